"""The style sheet of the report's page: system fonts, light and dark, nothing fetched. Pure."""

STYLE = """
:root {
  color-scheme: light dark;
  --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --panel: #f6f8fa; --rule: #d5dae0;
  --accent: #0b62c4; --right: #17703a; --wrong: #b3261e; --s0: #0b62c4; --s1: #a84300; --s2: #17703a; --s3: #7a3fb0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e8ec; --soft: #9aa5b1; --paper: #14171b; --panel: #1d2228; --rule: #363d46;
    --accent: #6cb0ff; --right: #62c98a; --wrong: #ff8a80; --s0: #6cb0ff; --s1: #ffa657; --s2: #62c98a; --s3: #cfa3ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 0.5rem; }
h3 { font-size: 1.05rem; margin: 0 0 0.25rem; }
p { margin: 0.4rem 0; max-width: 46rem; }
a { color: var(--accent); }
.lead { font-size: 1.1rem; }
.soft { color: var(--soft); }
.small, .soft, table { font-size: 0.875rem; }
.warn { border-left: 4px solid var(--s1); padding: 0.35rem 0.75rem; background: var(--panel); }
.scroll { overflow: auto; max-height: 40rem; }
table { border-collapse: collapse; margin: 0.6rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0 0.35rem 1rem; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: top; }
th { font-weight: 600; }
td { white-space: nowrap; }
tbody th { overflow-wrap: anywhere; max-width: 18rem; }
thead th { color: var(--soft); vertical-align: bottom; position: sticky; top: 0; background: var(--paper); }
tr > :first-child { text-align: left; padding-left: 0; min-width: 7rem; }
figure { margin: 1.25rem 0 2.25rem; display: grid; gap: 0.5rem 2rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 62rem) { figure.drawn { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); align-items: start; } }
svg { width: 100%; height: auto; display: block; font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
svg text { fill: var(--soft); }
svg .label { fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
svg .guide-name { font-size: 10px; }
svg .grid { stroke: var(--rule); stroke-width: 1; opacity: 0.55; }
svg .base { stroke: var(--soft); }
svg .bar { stroke: var(--soft); stroke-width: 1; opacity: 0.8; }
svg .leader { stroke: var(--soft); stroke-width: 0.75; }
svg .guide { fill: none; stroke: var(--soft); stroke-width: 1; stroke-dasharray: 1 4; }
svg .frontier { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 6 4; }
svg .run { fill: none; stroke-width: 1.75; }
svg .dot { fill: var(--soft); stroke: var(--paper); stroke-width: 1.5; }
svg .dot.best { fill: var(--accent); }
svg .dot.scripted { fill: var(--paper); stroke: var(--soft); stroke-width: 2; }
svg .s0 .run { stroke: var(--s0); } svg .s0 .dot { fill: var(--s0); }
svg .s1 .run { stroke: var(--s1); stroke-dasharray: 7 3; } svg .s1 .dot { fill: var(--s1); }
svg .s2 .run { stroke: var(--s2); stroke-dasharray: 2 3; } svg .s2 .dot { fill: var(--s2); }
svg .s3 .run { stroke: var(--s3); stroke-dasharray: 9 3 2 3; } svg .s3 .dot { fill: var(--s3); }
details { border-bottom: 1px solid var(--rule); }
summary { cursor: pointer; padding: 0.5rem 0; }
summary .count { float: right; margin-left: 1rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.inside { padding: 0 0 1rem 1.1rem; }
.answer { border-left: 3px solid var(--rule); padding: 0.1rem 0 0.1rem 0.9rem; margin: 0.9rem 0; }
.answer.right { border-color: var(--right); } .answer.wrong { border-color: var(--wrong); }
.right .verdict { color: var(--right); } .wrong .verdict { color: var(--wrong); }
.said { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.35rem 0; max-width: 52rem; }
.badge { border: 1px solid var(--rule); border-radius: 0.6rem; padding: 0 0.5rem; font-size: 0.8rem; color: var(--soft); }
ul { margin: 0.3rem 0; padding-left: 1.2rem; }
li, .inside a { overflow-wrap: anywhere; }
"""
