"""The vectors of all chunks in one Qdrant collection, which an alias says is the live one.

It is reached by its own name, never through the alias: no embedding model's vectors end up among another's. The alias is
looked at on opening, before a search and in `ids_of`, with which an indexer ends a page: another's is IndexMismatch.

Points are written with wait=True, found by payload fields that all have an index (the collection is strict: it
refuses a filter without one), and deleted by id, never by filter: replaying a filter could take what came later. Point ids
are content-addressed, so that whatever was applied although no answer came is simply sent again.

qdrant-client's errors are translated in `_once`, and nowhere else: no connection, no answer in time, 429 and 5xx are asked
again within `patience` and then are StoreUnavailable, as is all else at once; another vector size is IndexMismatch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar, cast

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from ingest.errors import IndexMismatch, StoreUnavailable
from ingest.model import EVERYWHERE, Chunk, Scope
from ingest.ports import Hit, Vector
from ingest.retry import STORE_RETRIES, NotNow, retrying

_T = TypeVar("_T")

_FIELDS = ("page", "site", "version", "input")
_STRICT = models.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False)
_PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
_POINTS_PER_UPSERT = 256
_IDS_PER_REQUEST = 1000


class QdrantVectors:
    """One half of a ChunkIndex: vectors of `dimensions` numbers, kept normalised to length 1.

    `alias` names the live collection and must name ours, `collection`; where it names none, ours is made. `beside`: ours is
    made and filled beside the live one until `take_over` lets the alias name it; `<alias>-before` then names the other.
    `exact`: compare every vector, as the embedded index does; else the collection's graph decides once it is large.
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
        timeout: int = 30,
        patience: float = 60.0,
    ) -> None:
        self._url = url
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
        self._client = AsyncQdrantClient(
            url=self._url,
            api_key=self._api_key,
            prefer_grpc=False,
            timeout=self._timeout,
            check_compatibility=False,  # it would ask the server from the constructor, and block
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
        await self._check_size()

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
        """All aliases in one step: no search ever finds one without a collection."""
        there = await self._aliases()
        changes: list[models.AliasOperations] = []
        for alias, collection in wanted.items():
            if alias in there:
                changes.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
            create = models.CreateAlias(collection_name=collection, alias_name=alias)
            changes.append(models.CreateAliasOperation(create_alias=create))
        await self._call(lambda client: client.update_collection_aliases(changes))

    async def is_live(self) -> bool:
        return (await self._aliases()).get(self._alias) == self._name

    async def _check_live(self) -> None:
        if not self._beside and not await self.is_live():
            raise IndexMismatch(
                f"{self._name} is not the live index at {self._url}: it was made by another embedding model than is set. Run"
                " `ritbot reembed` with the new model, or set the old one back; then start again"
            )

    async def _check_size(self) -> None:
        collection = await self._call(lambda client: client.get_collection(self._name))
        vectors = collection.config.params.vectors
        size = vectors.size if isinstance(vectors, models.VectorParams) else None
        if size != self._dimensions:
            raise self._mismatch(size, self._dimensions)

    async def take_over(self) -> None:
        """Let the alias name this collection, and keep in mind what it named before. May be done again."""
        if (live := (await self._aliases()).get(self._alias)) != self._name:
            await self._point({self._alias: self._name, **({self._alias_before: live} if live else {})})
        self._beside = False

    async def before(self) -> str | None:
        """The collection that was live before the live one, where it is still there and is not this one."""
        before = (await self._aliases()).get(self._alias_before)
        return None if before == self._name else before

    async def drop(self, collection: str) -> None:
        """Remove a collection with all that it holds, and the aliases that name it. No error where there is none."""
        with suppress(IndexMismatch):
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
            return await api(self._client)
        except ResourceExhaustedResponse as error:
            raise NotNow(f"Qdrant at {self._url}: {error.message}", error.retry_after_s) from error
        except ResponseHandlingException as error:
            what = str(error.source) or type(error.source).__name__
            raise NotNow(f"Qdrant at {self._url} gave no answer ({what}): is it running?") from error
        except UnexpectedResponse as error:
            raise self._translated(error) from error
        except ApiException as error:
            raise StoreUnavailable(f"Qdrant at {self._url}: {error}") from error

    def _translated(self, error: UnexpectedResponse) -> StoreUnavailable | IndexMismatch:
        said = error.content.decode("utf-8", "replace")[:500]
        what = f"Qdrant at {self._url} answers {error.status_code} ({said})"
        if error.status_code in _PASSING_STATUSES:
            return NotNow(what)
        if error.status_code == 404:
            return IndexMismatch(f"{what}: another embedding model took over, or somebody removed it. Start again")
        if error.status_code in (401, 403):
            return StoreUnavailable(f"{what}: check the API key")
        return StoreUnavailable(what)


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
