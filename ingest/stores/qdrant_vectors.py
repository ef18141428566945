"""The vectors of all chunks in one Qdrant collection, reached by an alias.

Points are written with wait=True, found by payload fields that all have an index (the collection is strict: it
refuses a filter without one), and deleted by id, never by filter: replaying a filter could take what came later. Point ids
are content-addressed, so that whatever was applied although no answer came is simply sent again.

qdrant-client's errors are translated in `_once`, and nowhere else: no connection, no answer in time, 429 and 5xx are asked
again within `patience` and then are StoreUnavailable, as is all else at once; another vector size is IndexMismatch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeVar, cast

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from ingest.errors import IndexMismatch, StoreUnavailable
from ingest.model import Chunk, Scope
from ingest.ports import Hit, Vector
from ingest.stores.patience import NotNow, patiently

_T = TypeVar("_T")

_EVERYWHERE = Scope()
_FIELDS = ("page", "site", "version", "input")
_MAY_PASS = frozenset({429, 500, 502, 503, 504})
_POINTS_A_REQUEST = 256
_IDS_A_REQUEST = 1000


class QdrantVectors:
    """One half of a ChunkIndex: vectors of `dimensions` numbers, kept normalised to length 1.

    `alias` names the collection; where there is none it is made. With a `collection`, that one is filled beside
    the live one, and `take_over` lets the alias name it: a change of embedding model while questions are answered.
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
        exact: bool = True,
        api_key: str | None = None,
        timeout: int = 30,
        patience: float = 60.0,
    ) -> None:
        self._url = url
        self._dimensions = dimensions
        self._alias = alias
        self._collection = collection
        self._exact = models.SearchParams(exact=exact)
        self._api_key = api_key
        self._timeout = timeout
        self._patience = patience
        self._client: AsyncQdrantClient | None = None

    @property
    def _name(self) -> str:
        return self._collection or self._alias

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
        if self._collection is not None:
            await self._create(self._collection)
        elif await self._aliased() is None:
            first = f"{self._alias}-1"
            await self._create(first)
            await self._point_alias_at(first)
        await self._check_size()

    async def _create(self, name: str) -> None:
        if not await self._call(lambda client: client.collection_exists(name)):
            try:
                await self._call(
                    lambda client: client.create_collection(
                        name,
                        models.VectorParams(size=self._dimensions, distance=models.Distance.COSINE),
                        strict_mode_config=models.StrictModeConfig(
                            enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
                        ),
                    )
                )
            except StoreUnavailable:
                if not await self._call(lambda client: client.collection_exists(name)):
                    raise
        for field in _FIELDS:
            await self._index(name, field)

    async def _index(self, name: str, field: str) -> None:
        kind = models.PayloadSchemaType.KEYWORD
        await self._call(lambda client: client.create_payload_index(name, field, field_schema=kind, wait=True))

    async def _aliased(self) -> str | None:
        """The collection that the alias names."""
        aliases = (await self._call(lambda client: client.get_aliases())).aliases
        return next((each.collection_name for each in aliases if each.alias_name == self._alias), None)

    async def _point_alias_at(self, collection: str, *, remove: bool = False) -> None:
        """In one step: no search ever finds the alias without a collection."""
        create = models.CreateAlias(collection_name=collection, alias_name=self._alias)
        changes: list[models.AliasOperations] = [models.CreateAliasOperation(create_alias=create)]
        if remove:
            delete = models.DeleteAlias(alias_name=self._alias)
            changes.insert(0, models.DeleteAliasOperation(delete_alias=delete))
        await self._call(lambda client: client.update_collection_aliases(changes))

    async def _check_size(self) -> None:
        collection = await self._call(lambda client: client.get_collection(self._name))
        vectors = collection.config.params.vectors
        size = vectors.size if isinstance(vectors, models.VectorParams) else None
        if size != self._dimensions:
            raise self._mismatch(size, self._dimensions)

    async def take_over(self) -> None:
        """Let the alias name this collection; the one that it named before is dropped. May be done again."""
        if self._collection is None:
            raise ValueError("only a collection that is named can take over")
        before = await self._aliased()
        if before != self._collection:
            await self._point_alias_at(self._collection, remove=before is not None)
            if before is not None:
                await self._call(lambda client: client.delete_collection(before))

    # --- writing

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        """As ingest.ports.ChunkIndex."""
        points = [
            models.PointStruct(id=chunk.id, vector=self._checked(vector), payload=_payload(chunk))
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        for start in range(0, len(points), _POINTS_A_REQUEST):
            await self._upsert(points[start : start + _POINTS_A_REQUEST])

    async def _upsert(self, points: list[models.PointStruct]) -> None:
        await self._call(lambda client: client.upsert(self._name, points, wait=True))

    async def delete(self, ids: Iterable[str]) -> None:
        """Unknown ids are no error."""
        gone: list[models.ExtendedPointId] = list(ids)
        for start in range(0, len(gone), _IDS_A_REQUEST):
            await self._delete(models.PointIdsList(points=gone[start : start + _IDS_A_REQUEST]))

    async def _delete(self, points: models.PointIdsList) -> None:
        await self._call(lambda client: client.delete(self._name, points, wait=True))

    # --- reading

    async def dense(self, vector: Vector, k: int, scope: Scope = _EVERYWHERE) -> Sequence[Hit]:
        """As ingest.ports.ChunkIndex."""
        query = self._checked(vector)
        if k <= 0:
            return []
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

    async def ids_of(self, page_key: str) -> Mapping[str, str]:
        """As ingest.ports.ChunkIndex."""
        records = await self._scroll("page", [page_key], with_vectors=False)
        return {str(record.id): record.payload["input"] for record in records if record.payload}

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        """As ingest.ports.ChunkIndex."""
        wanted = list(dict.fromkeys(input_hashes))
        found: dict[str, Vector] = {}
        for start in range(0, len(wanted), _IDS_A_REQUEST):
            for record in await self._scroll("input", wanted[start : start + _IDS_A_REQUEST], with_vectors=True):
                if record.payload:
                    found[record.payload["input"]] = cast(Vector, record.vector)
        return found

    async def _scroll(self, field: str, values: list[str], *, with_vectors: bool) -> list[models.Record]:
        """All points whose payload field is one of the values, with their input hash."""
        records: list[models.Record] = []
        only = models.Filter(must=[_is_among(field, values)])
        offset: models.ExtendedPointId | None = None
        while True:
            page, offset = await self._call(partial(self._page, only, offset, with_vectors))
            records += page
            if offset is None:
                return records

    async def _page(
        self, only: models.Filter, offset: models.ExtendedPointId | None, with_vectors: bool, client: AsyncQdrantClient
    ) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        found = await client.scroll(
            self._name,
            scroll_filter=only,
            offset=offset,
            limit=_IDS_A_REQUEST,
            with_payload=["input"],
            with_vectors=with_vectors,
        )
        return cast(tuple[list[models.Record], models.ExtendedPointId | None], found)

    async def count(self, scope: Scope = _EVERYWHERE) -> int:
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
        return await patiently(lambda: self._once(api), self._patience)

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
        if error.status_code in _MAY_PASS:
            return NotNow(what)
        if "dimension error" in said:
            return IndexMismatch(f"{what}: the collection was made by another embedding model")
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


def _filter(scope: Scope) -> models.Filter | None:
    fields = {"site": scope.sites, "version": scope.versions}
    conditions: list[models.Condition] = [
        _is_among(field, among) for field, among in fields.items() if among is not None
    ]
    return models.Filter(must=conditions) if conditions else None
