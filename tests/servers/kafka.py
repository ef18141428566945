"""Apache Kafka on one KRaft node, broker and controller in one process, on free loopback ports.

with Kafka(folder) as kafka:
    kafka.address            # "127.0.0.1:40123"; the same after kill() and start()
"""

from __future__ import annotations

import base64
import subprocess
import uuid
from pathlib import Path
from typing import Self

from tests.servers.java import JVM, Process, ServerFailed, accepts, free_ports, jars

ARTIFACTS = ("org.apache.kafka:kafka_2.13:4.4.0", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.5")

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=1500
broker.heartbeat.interval.ms=300
log.cleaner.backoff.ms=200
log.cleaner.dedupe.buffer.size=8388608
"""
# One partition instead of 50 for each internal topic, no wait of 3 s before the first member of a group gets work, dead
# members and the broker's own last life forgotten in a second, a cleaner that small heaps and impatient tests bear.

HEAP = "-Xmx256m"

LOGGING = """\
<Configuration status="error"><Appenders><Console name="C"><PatternLayout pattern="%d %p %c{1} %m%n"/></Console></Appenders>
<Loggers><Root level="warn"><AppenderRef ref="C"/></Root></Loggers></Configuration>
"""


class Kafka:
    """`folder` must be empty: it gets the settings, the data and the log."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = 0
        self._process: Process | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def process(self) -> Process:
        assert self._process is not None, "Kafka is not open"
        return self._process

    def __enter__(self) -> Self:
        self._port, controller = free_ports(2)
        settings = self._folder / "server.properties"
        settings.write_text(
            PROPERTIES.format(port=self._port, controller=controller, data=self._folder / "data"), encoding="utf-8"
        )
        (self._folder / "log4j2.xml").write_text(LOGGING, encoding="utf-8")
        java = ["java", HEAP, *JVM, f"-Dlog4j2.configurationFile={self._folder / 'log4j2.xml'}"]
        java += ["-cp", f"{jars('kafka', ARTIFACTS)}/*"]
        self._format([*java, "kafka.tools.StorageTool"], settings)
        self._process = Process("Kafka", [*java, "kafka.Kafka", str(settings)], self._folder)
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()

    def start(self) -> None:
        """Again after `process.stop()` or `process.kill()`, on the same data and the same port."""
        self.process.start(lambda: accepts(self._port))

    def _format(self, tool: list[str], settings: Path) -> None:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode().replace("-", "A")
        command = [*tool, "format", "-t", cluster, "-c", str(settings)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ServerFailed(f"Kafka's data folder could not be formatted:\n{(done.stdout + done.stderr)[-3000:]}")
