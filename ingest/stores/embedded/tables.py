"""The tables of the TreeStore's SQLite file (stores/sqlite.py), and how an older file becomes one of today."""

SCHEMA_VERSION = 3
SCHEMA = (
    """CREATE TABLE records (
         id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, site TEXT NOT NULL, version TEXT NOT NULL,
         state TEXT NOT NULL, seq INTEGER NOT NULL, target TEXT, reason TEXT, nodes INTEGER NOT NULL,
         chunks INTEGER NOT NULL, checked_at TEXT NOT NULL, changed_at TEXT NOT NULL, revision INTEGER NOT NULL,
         content_hash TEXT, tree_hash TEXT, page BLOB, record BLOB NOT NULL)""",
    "CREATE INDEX records_by_site ON records (site, key)",
    "CREATE INDEX records_by_content ON records (site, version, content_hash, key)",
    "CREATE INDEX records_by_target ON records (target)",
    """CREATE TABLE headings (
         record INTEGER NOT NULL REFERENCES records ON DELETE CASCADE, position INTEGER NOT NULL, id TEXT NOT NULL,
         parent TEXT, level INTEGER NOT NULL, title TEXT NOT NULL, anchor TEXT, kind TEXT NOT NULL,
         readable INTEGER NOT NULL, PRIMARY KEY (record, position)) WITHOUT ROWID""",
    "CREATE INDEX headings_by_id ON headings (id)",
    """CREATE TABLE texts (
         record INTEGER NOT NULL REFERENCES records ON DELETE CASCADE, position INTEGER NOT NULL,
         node BLOB NOT NULL, PRIMARY KEY (record, position))""",
    """CREATE TABLE watched (
         key TEXT PRIMARY KEY, site TEXT NOT NULL, seq INTEGER NOT NULL, state BLOB, due_at REAL NOT NULL DEFAULT 0)""",
    "CREATE INDEX watched_by_site ON watched (site)",
    "CREATE INDEX watched_by_due ON watched (site, due_at, key)",
    "CREATE TABLE sites (site TEXT PRIMARY KEY, changed INTEGER NOT NULL)",
    "CREATE TABLE revisions (last INTEGER NOT NULL)",
    "INSERT INTO revisions VALUES (0)",
)
UPGRADES = {
    1: (  # what was remembered is learned again by the next look at each page; the numbers given out stay
        *(f"ALTER TABLE watched DROP COLUMN {c}" for c in "etag last_modified misses missed_since fetched_at".split()),
        "ALTER TABLE watched ADD COLUMN state BLOB",
    ),
    2: (  # seconds since 1970; 0: at once
        "ALTER TABLE watched ADD COLUMN due_at REAL NOT NULL DEFAULT 0",
        """UPDATE watched SET due_at = coalesce(
             (julianday(json_extract(CAST(state AS TEXT), '$.due_at')) - 2440587.5) * 86400.0, 0)""",
        "CREATE INDEX watched_by_due ON watched (site, due_at, key)",
    ),
}
