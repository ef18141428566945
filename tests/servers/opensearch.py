"""OpenSearch on one node, on free loopback ports.

    with OpenSearch() as server:
        server.url               # "http://127.0.0.1:40123"; the same after process.kill() and start()

Version 3.9.0 where a Java of 21 or newer is found, else 2.19.6. Maven Central has the server's jars but no ready
distribution: a home folder is laid out by hand. The node refuses to run as root and runs as `nobody` then, so its home
lies in the system's folder for temporary files, below no private one; it goes with the node.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.servers.java import JVM, Process, ServerFailed, free_ports, jars

JVMS = Path("/usr/lib/jvm")


@dataclass(frozen=True)
class Release:
    """What differs between versions: the log4j-core that goes with its log4j-api, the Java that its plugins name, the
    end of their class names, and what its home and its command line need beyond the common."""

    version: str
    log4j: str
    java: int
    suffix: str
    libraries: tuple[str, ...]
    options: tuple[str, ...]


NEW = Release(
    "3.9.0", "2.25.5", 21, "ModulePlugin", ("opensearch-agent-bootstrap",), ("--add-modules", "jdk.incubator.vector")
)
OLD = Release("2.19.6", "2.25.4", 11, "Plugin", (), ("-Djava.security.manager=allow",))


@dataclass(frozen=True)
class Module:
    """A folder of modules/: its artifact, its plugin class but for the release's suffix, and what the security manager
    of older releases must grant it."""

    artifact: str
    plugin: str
    permissions: tuple[str, ...] = ()
    extends: str = ""


MODULES = {
    "transport-netty4": Module(
        "transport-netty4-client",
        "org.opensearch.transport.Netty4",
        (
            'java.net.SocketPermission "*", "accept,connect,resolve"',
            'java.io.FilePermission "/proc/sys/net/core/somaxconn", "read"',
            'java.lang.RuntimePermission "getClassLoader"',
            'java.lang.RuntimePermission "setContextClassLoader"',
        ),
    ),
    "analysis-common": Module(
        "analysis-common", "org.opensearch.analysis.common.CommonAnalysis", extends="lang-painless"
    ),
    "reindex": Module(
        "reindex-client", "org.opensearch.index.reindex.Reindex", ('java.net.SocketPermission "*", "connect"',)
    ),
    "lang-painless": Module(
        "lang-painless",
        "org.opensearch.painless.Painless",
        ('java.lang.RuntimePermission "createClassLoader"', 'java.lang.RuntimePermission "getClassLoader"'),
    ),
}

HEAP = "-Xmx512m"

LOGGING = """\
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""

SETTINGS = """\
network.host: 127.0.0.1
http.port: {port}
transport.port: {transport}
discovery.type: single-node
cluster.routing.allocation.disk.threshold_enabled: false
node.store.allow_mmap: false
indices.breaker.total.use_real_memory: false
path.data: {home}/data
path.logs: {home}/logs
"""
# Without the disk threshold switched off, a full disk makes all indexes read-only. The circuit breaker that goes by real
# memory counts garbage, which the serial collector leaves until it needs room: with 95 % of the heap in use the node
# answers 429 to all, and since it then does nothing, nothing is ever collected.


class OpenSearch:
    """One throw-away node."""

    def __init__(self) -> None:
        self._home = Path()
        self._port = 0
        self._process: Process | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def process(self) -> Process:
        assert self._process is not None, "OpenSearch is not open"
        return self._process

    def __enter__(self) -> Self:
        java, release = choose()
        self._home = Path(tempfile.mkdtemp(prefix="ritbot-opensearch-"))
        user = "nobody" if os.geteuid() == 0 else None
        try:
            self._port, transport = free_ports(2)
            lay_out(self._home, release, SETTINGS.format(port=self._port, transport=transport, home=self._home), user)
            self._process = Process("OpenSearch", _command(java, release, self._home), self._home, user)
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        if self._process is not None:
            self._process.kill()  # a polite stop takes over 20 s
        shutil.rmtree(self._home, ignore_errors=True)

    def start(self) -> None:
        """Again after `process.kill()`, on the same data and the same port."""
        self.process.start(self._ready)

    def _ready(self) -> bool:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(f"{self.url}/_cluster/health?wait_for_status=yellow&timeout=20s", timeout=30):
                return True
        except OSError:
            return False


def choose() -> tuple[Path, Release]:
    """The newest Java there is, and the release that runs on it."""
    version, java = max(_javas(), default=(0, Path()))
    if version < 17:
        raise ServerFailed(f"OpenSearch needs Java 17 or newer: none is on the path or in {JVMS}")
    return java, NEW if version >= NEW.java else OLD


def _javas() -> Iterator[tuple[int, Path]]:
    """Major version and program of each installation, as its own `release` file names it."""
    on_path = shutil.which("java")
    for home in (*JVMS.glob("*"), *([Path(on_path).resolve().parents[1]] if on_path else [])):
        release, java = home / "release", home / "bin" / "java"
        if release.is_file() and java.is_file():
            values = dict(line.split("=", 1) for line in release.read_text().splitlines() if "=" in line)
            yield int(values["JAVA_VERSION"].strip('"').split(".")[0]), java


def lay_out(home: Path, release: Release, settings: str, user: str | None) -> None:
    """A home folder as the distribution's, with what is needed and no more."""
    names = ("opensearch", "opensearch-plugin-classloader", *release.libraries)
    own = [f"org.opensearch:{name}:{release.version}" for name in names]
    shutil.copytree(jars("opensearch", [*own, f"org.apache.logging.log4j:log4j-core:{release.log4j}"]), home / "lib")
    libraries = {jar.name for jar in (home / "lib").iterdir()}
    for name, module in MODULES.items():
        artifact = f"org.opensearch.plugin:{module.artifact}:{release.version}"
        folder = home / "modules" / name
        shutil.copytree(jars(f"opensearch-{name}", [artifact]), folder, ignore=lambda _, jars: set(jars) & libraries)
        (folder / "plugin-descriptor.properties").write_text(_descriptor(name, module, release), encoding="utf-8")
        grants = "".join(f"  permission {permission};\n" for permission in module.permissions)
        (folder / "plugin-security.policy").write_text(f"grant {{\n{grants}}};\n", encoding="utf-8")
    for name in ("config", "plugins", "data", "logs", "tmp"):
        (home / name).mkdir()
    (home / "config" / "log4j2.properties").write_text(LOGGING, encoding="utf-8")
    (home / "config" / "opensearch.yml").write_text(settings, encoding="utf-8")
    if user is not None:
        for path in (home, *home.rglob("*")):
            shutil.chown(path, user)


def _descriptor(name: str, module: Module, release: Release) -> str:
    lines = {
        "description": name,
        "version": release.version,
        "name": name,
        "classname": module.plugin + release.suffix,
        "java.version": release.java,
        "opensearch.version": release.version,
        "has.native.controller": "false",
    }
    if module.extends:
        lines["extended.plugins"] = module.extends
    return "".join(f"{key}={value}\n" for key, value in lines.items())


def _command(java: Path, release: Release, home: Path) -> list[str]:
    properties = {
        "log4j2.disable.jmx": "true",
        "opensearch.path.home": home,
        "opensearch.path.conf": home / "config",
        "opensearch.distribution.type": "tar",
        "java.io.tmpdir": home / "tmp",
    }
    defined = [f"-D{key}={value}" for key, value in properties.items()]
    main = ["-cp", f"{home}/lib/*", "org.opensearch.bootstrap.OpenSearch"]
    return [str(java), HEAP, *JVM, *defined, *release.options, *main]
