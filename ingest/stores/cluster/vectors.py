"""The vectors of all chunks in one Qdrant collection, which an alias says is the live one.

It is reached by its own name, never through the alias: no embedding model's vectors end up among another's. The alias is
looked at on opening, before a search and in `ids_of`, with which an indexer ends a page: another's is IndexMismatch.

Points are written with wait=True, found by payload fields that all have an index (the collection is strict: it
refuses a filter without one), and deleted by id, never by filter: replaying a filter could take what came later. Point ids
are content-addressed, so that whatever was applied although no answer came is simply sent again.

qdrant-client's errors are translated in `_once`, and nowhere else: no connection, no answer in time, 408, 429 and 5xx are
asked again within `patience` and then are StoreUnavailable, as is all else at once; another vector size is IndexMismatch.
An address at which no Qdrant can ever answer is told at once and by name: until the first good answer, whoever answers
otherwise is asked what it speaks.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar, cast
from urllib.parse import urlsplit

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from ingest.errors import IndexMismatch, StoreUnavailable
from ingest.model import EVERYWHERE, Chunk, Scope
from ingest.ports import Hit, Vector
from ingest.retry import PASSING_STATUSES, STORE_RETRIES, NotNow, retrying

_T = TypeVar("_T")

_FIELDS = ("page", "site", "version", "input")
_STRICT = models.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False)
_NO_COLLECTION = "doesn't exist"
_DEFAULT_PORT = 6333
"""What qdrant-client means where an address names no port, whatever its scheme."""
_POINTS_PER_UPSERT = 256
_IDS_PER_REQUEST = 1000
_CHECK_ADDRESS = "Check stores.qdrant_url: the address, its port and what stands behind its host"
_PROBE_SECONDS = 2.0
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_SETTINGS_FRAME = 4
"""RFC 9113 section 3.4: a server that speaks HTTP/2, as gRPC does, answers the preface with its settings."""


class QdrantVectors:
    """One half of a ChunkIndex: vectors of `dimensions` numbers, kept normalised to length 1.

    `alias` names the live collection and must name ours, `collection`; where it names none, ours is made. `beside`: ours is
    made and filled beside the live one until `take_over` lets the alias name it; `<alias>-before` then names the other.
    `exact`: compare every vector, as the embedded index does; else, and where the collection's strict mode forbids it, the
    collection's graph decides once it is large. `ca_file`: authorities (PEM) to trust in place of the system's.
    `timeout`: whole seconds for one request; `patience`: seconds that a request is repeated while the server is away.
    """

    def __init__(
        self,
        url: str,
        dimensions: int,
        alias: str = "ritbot",
        *,
        collection: str | None = None,
        beside: bool = False,
        exact: bool = True,
        api_key: str | None = None,
        ca_file: str | None = None,
        timeout: int = 30,
        patience: float = STORE_RETRIES.within,
    ) -> None:
        self._url = url
        address = urlsplit(url)
        self._secure, self._host, self._port = address.scheme == "https", address.hostname or "", address.port
        self._named = f"Qdrant at {url}{'' if self._port else f' (port {_DEFAULT_PORT}, since the address names none)'}"
        self._answered = False
        self._ca_file = ca_file
        self._dimensions = dimensions
        self._alias = alias
        self._alias_before = f"{alias}-before"
        self._name = collection or f"{alias}-1"
        self._beside = beside
        self._exact = models.SearchParams(exact=exact)
        self._api_key = api_key
        self._timeout = timeout
        self._retries = replace(STORE_RETRIES, within=patience)
        self._client: AsyncQdrantClient | None = None

    async def __aenter__(self) -> Self:
        trusted: dict[str, Any] = {"verify": self._trusted(self._ca_file)} if self._ca_file else {}
        self._client = AsyncQdrantClient(
            url=self._url,
            api_key=self._api_key,
            prefer_grpc=False,
            timeout=self._timeout,
            check_compatibility=False,  # it would ask the server from the constructor, and block
            **trusted,
        )
        try:
            await self._prepare()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    # --- the collection

    async def _prepare(self) -> None:
        """Each step may have been done before, by us or by another that opens at the same time."""
        first = self._alias not in await self._aliases()
        if self._beside or first:
            await self._create()
        if first and not self._beside:
            await self._point({self._alias: self._name})
        await self._check_live()
        await self._check_collection()

    async def _create(self) -> None:
        if not await self._call(lambda client: client.collection_exists(self._name)):
            size = models.VectorParams(size=self._dimensions, distance=models.Distance.COSINE)
            try:
                await self._call(lambda client: client.create_collection(self._name, size, strict_mode_config=_STRICT))
            except StoreUnavailable:
                if not await self._call(lambda client: client.collection_exists(self._name)):
                    raise
        for field in _FIELDS:
            await self._index(field)

    async def _index(self, field: str) -> None:
        kind = models.PayloadSchemaType.KEYWORD
        await self._call(lambda client: client.create_payload_index(self._name, field, field_schema=kind, wait=True))

    async def _aliases(self) -> dict[str, str]:
        """What each alias names."""
        aliases = (await self._call(lambda client: client.get_aliases())).aliases
        return {each.alias_name: each.collection_name for each in aliases}

    async def _point(self, wanted: Mapping[str, str]) -> None:
        """One after the other, as the server does it: it takes nothing back when it stops half-way. What an alias named
        before is overwritten, so that no search ever finds one without a collection."""
        changes: list[models.AliasOperations] = [
            models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=collection, alias_name=alias))
            for alias, collection in wanted.items()
        ]
        await self._call(lambda client: client.update_collection_aliases(changes))

    async def is_live(self) -> bool:
        return (await self._aliases()).get(self._alias) == self._name

    async def _check_live(self) -> None:
        if not self._beside and not await self.is_live():
            raise IndexMismatch(
                f"{self._name} is not the live index at {self._url}: it was made by another embedding model than is set. Run"
                " `ritbot reembed` with the new model, or set the old one back; then start again"
            )

    async def _check_collection(self) -> None:
        """Its vectors are as long as ours, and whether it may be searched exactly."""
        config = (await self._call(lambda client: client.get_collection(self._name))).config
        if (strict := config.strict_mode_config) and strict.enabled and strict.search_allow_exact is False:
            self._exact = models.SearchParams(exact=False)
        vectors = config.params.vectors
        size = vectors.size if isinstance(vectors, models.VectorParams) else None
        if size != self._dimensions:
            raise self._mismatch(size, self._dimensions)

    async def take_over(self) -> None:
        """Let the alias name this collection, and keep in mind what it named before. May be done again.

        What was before is written first: stopped in between, the live index is still live and known twice; the other
        way round, a collection would be left that no alias names, and that nobody would ever remove."""
        if (live := (await self._aliases()).get(self._alias)) != self._name:
            await self._point({**({self._alias_before: live} if live else {}), self._alias: self._name})
        self._beside = False

    async def before(self) -> str | None:
        """The collection that was live before the live one, where it is still there and is not this one. A take-over
        that was stopped half-way names the live one: nothing was live before it."""
        aliases = await self._aliases()
        before = aliases.get(self._alias_before)
        return None if before in (self._name, aliases.get(self._alias)) else before

    async def drop(self, collection: str) -> None:
        """Remove a collection with all that it holds, and the aliases that name it. No error where there is none."""
        await self._call(lambda client: client.delete_collection(collection))

    # --- writing

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        """As ingest.ports.ChunkIndex."""
        points = [
            models.PointStruct(id=chunk.id, vector=self._checked(vector), payload=_payload(chunk))
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        for start in range(0, len(points), _POINTS_PER_UPSERT):
            await self._upsert(points[start : start + _POINTS_PER_UPSERT])

    async def _upsert(self, points: list[models.PointStruct]) -> None:
        await self._call(lambda client: client.upsert(self._name, points, wait=True))

    async def delete(self, ids: Iterable[str]) -> None:
        """Unknown ids are no error."""
        gone: list[models.ExtendedPointId] = list(ids)
        for start in range(0, len(gone), _IDS_PER_REQUEST):
            await self._delete(models.PointIdsList(points=gone[start : start + _IDS_PER_REQUEST]))

    async def _delete(self, points: models.PointIdsList) -> None:
        await self._call(lambda client: client.delete(self._name, points, wait=True))

    # --- reading

    async def dense(self, vector: Vector, k: int, scope: Scope = EVERYWHERE) -> Sequence[Hit]:
        """As ingest.ports.ChunkIndex."""
        query = self._checked(vector)
        if k <= 0:
            return []
        await self._check_live()
        answer = await self._call(
            lambda client: client.query_points(
                self._name,
                query=query,
                query_filter=_filter(scope),
                search_params=self._exact,
                limit=k,
                with_payload=["node", "page"],
            )
        )
        hits = [Hit(str(p.id), p.payload["node"], p.payload["page"], p.score) for p in answer.points if p.payload]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    async def ids_of(self, page_key: str, scope: Scope = EVERYWHERE) -> Mapping[str, str]:
        """As ingest.ports.ChunkIndex. Raises IndexMismatch once another collection is the live one."""
        await self._check_live()
        found = self._scroll(_filter(scope, page=[page_key]), ["input"])
        return {str(record.id): record.payload["input"] async for record in found if record.payload}

    async def pages(self, scope: Scope = EVERYWHERE) -> AsyncIterator[tuple[str, str]]:
        """As ingest.ports.ChunkIndex, but each pair as often as there are chunks."""
        async for record in self._scroll(_filter(scope), ["page", "site"]):
            if record.payload:
                yield record.payload["page"], record.payload["site"]

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        """As ingest.ports.ChunkIndex."""
        wanted = list(dict.fromkeys(input_hashes))
        found: dict[str, Vector] = {}
        for start in range(0, len(wanted), _IDS_PER_REQUEST):
            only = _filter(EVERYWHERE, input=wanted[start : start + _IDS_PER_REQUEST])
            async for record in self._scroll(only, ["input"], vectors=True):
                if record.payload:
                    found[record.payload["input"]] = cast(Vector, record.vector)
        return found

    async def _scroll(
        self, only: models.Filter | None, fields: list[str], *, vectors: bool = False
    ) -> AsyncIterator[models.Record]:
        """All points that the filter lets through, by id, with these fields of their payload."""
        asked = {"scroll_filter": only, "with_payload": fields, "with_vectors": vectors, "limit": _IDS_PER_REQUEST}
        offset: Any = None
        while True:
            page, offset = await self._call(partial(self._page, asked, offset))
            for record in page:
                yield record
            if offset is None:
                return

    async def _page(self, asked: dict[str, Any], offset: Any, client: AsyncQdrantClient) -> tuple[list[Any], Any]:
        return await client.scroll(self._name, offset=offset, **asked)

    async def count(self, scope: Scope = EVERYWHERE) -> int:
        """As ingest.ports.ChunkIndex."""
        only = _filter(scope)
        return (await self._call(lambda client: client.count(self._name, count_filter=only, exact=True))).count

    def _checked(self, vector: Vector) -> list[float]:
        if len(vector) != self._dimensions:
            raise self._mismatch(self._dimensions, len(vector))
        return list(vector)

    def _mismatch(self, there: int | None, here: int) -> IndexMismatch:
        return IndexMismatch(
            f"the collection {self._name} at {self._url} holds vectors of {there} numbers, this one has {here}: use the"
            " embedding model that made the collection, or fill another"
        )

    # --- the one way to the server

    async def _call(self, api: Callable[[AsyncQdrantClient], Awaitable[_T]]) -> _T:
        return await retrying(lambda: self._once(api), self._retries)

    async def _once(self, api: Callable[[AsyncQdrantClient], Awaitable[_T]]) -> _T:
        if self._client is None:
            raise StoreUnavailable(f"the connection to {self._url} is not open")
        try:
            answer = await api(self._client)
        except ResourceExhaustedResponse as error:
            raise NotNow(f"{self._named}: {error.message}", error.retry_after_s) from error
        except ResponseHandlingException as error:
            raise await self._unanswered(error.source) from error
        except UnexpectedResponse as error:
            raise self._translated(error) from error
        except ApiException as error:
            raise StoreUnavailable(f"{self._named}: {error}") from error
        except ValueError as error:
            raise await self._unanswered(error) from error
        self._answered = True
        return answer

    async def _unanswered(self, error: Exception) -> StoreUnavailable:
        """What it means that there was no answer, or none that Qdrant gives."""
        what = str(error) or type(error).__name__
        if isinstance(error, ValueError):  # of JSON, or of the fields in it
            return StoreUnavailable(f"{self._named}: what answers there is no Qdrant ({what[:200]}). {_CHECK_ADDRESS}")
        causes = list(_causes(error))
        if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
            return StoreUnavailable(
                f"{self._named}: its certificate is not trusted ({what}): name the authority that signed it in"
                " stores.qdrant_ca_file"
            )
        if not self._answered:
            if self._secure and any(isinstance(cause, ssl.SSLError) for cause in causes):
                return StoreUnavailable(
                    f"{self._named} does not speak TLS ({what}): is it http:// in stores.qdrant_url?"
                )
            if not self._secure and await _speaks_tls(self._host, self._port or _DEFAULT_PORT):
                return StoreUnavailable(f"{self._named} speaks TLS only: write https:// in stores.qdrant_url")
            if not self._secure and await _speaks_http2(self._host, self._port or _DEFAULT_PORT):
                return StoreUnavailable(
                    f"{self._named}: that is the port of gRPC, and ritbot speaks HTTP: name that port in"
                    f" stores.qdrant_url (it is {_DEFAULT_PORT} where nobody changed it)"
                )
            if not self._port:
                return StoreUnavailable(f"{self._named} gave no answer ({what}): name the port in stores.qdrant_url")
        return NotNow(f"{self._named} gave no answer ({what}): is it running?")

    def _trusted(self, ca_file: str) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise StoreUnavailable(f"stores.qdrant_ca_file: {ca_file} holds no certificates ({error})") from error

    def _translated(self, error: UnexpectedResponse) -> StoreUnavailable | IndexMismatch:
        said = error.content.decode("utf-8", "replace")[:500]
        what = f"{self._named} answers {error.status_code} ({said})"
        if error.status_code in PASSING_STATUSES:
            return NotNow(what)
        if error.status_code == 404 and _NO_COLLECTION not in said:
            return StoreUnavailable(f"{what}: that is no address of Qdrant's. {_CHECK_ADDRESS}")
        if error.status_code == 404:
            return IndexMismatch(f"{what}: another embedding model took over, or somebody removed it. Start again")
        if error.status_code in (401, 403):
            return StoreUnavailable(f"{what}: check the API key")
        return StoreUnavailable(what)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


async def _speaks_tls(host: str, port: int) -> bool:
    anybodys = ssl.create_default_context()
    anybodys.check_hostname, anybodys.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=anybodys)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _speaks_http2(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(_HTTP2_PREFACE)
                return (await reader.readexactly(9))[3] == _SETTINGS_FRAME
            finally:
                writer.close()
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return False


def _payload(chunk: Chunk) -> dict[str, Any]:
    return {
        "node": chunk.node_id,
        "page": chunk.page_key,
        "site": chunk.site,
        "version": chunk.version,
        "input": chunk.input_hash,
    }


def _is_among(field: str, values: Iterable[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=sorted(values)))


def _filter(scope: Scope, **more: Iterable[str]) -> models.Filter | None:
    fields: dict[str, Iterable[str] | None] = {"site": scope.sites, "version": scope.versions, **more}
    conditions: list[models.Condition] = [
        _is_among(field, among) for field, among in fields.items() if among is not None
    ]
    return models.Filter(must=conditions) if conditions else None
