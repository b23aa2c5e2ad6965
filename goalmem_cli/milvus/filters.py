"""Translate a query's filters into Milvus expressions, which contain only hashes and numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.milvus.rows import Talk
from goalmem_cli.milvus.schema import ID, TALK
from goalmem_cli.records import Query, content_hash, encodable


def both(*conditions: str) -> str:
    """Return the conjunction of the conditions; an empty one holds for every row."""
    return " and ".join(f"({condition})" for condition in conditions if condition)


def any_key(field: str, keys: Iterable[str]) -> str:
    """Return the condition that the field is one of these hashes."""
    return f"{field} in [{', '.join(_quoted(key) for key in sorted(set(keys)))}]"


def passing(query: Query) -> str:
    """Return the condition that a row passes the query's filters; empty if it has none."""
    conditions = []
    for field, values in ((TALK, query.conversations), ("speaker_key", query.speakers)):
        if values is not None:
            conditions.append(any_key(field, (content_hash(encodable(value)) for value in values)))
    if query.without:
        conditions.append(f"not ({any_key('speaker_key', (content_hash(encodable(name)) for name in query.without))})")
    span = Span.between(query.since, query.until)
    for moment, comparison in ((span.since, ">="), (span.until, "<=")):
        if moment is not None:
            conditions.append(_time(moment, comparison))
    return both(*conditions)


def flat(backbone: str, kinds: Collection[str] | None) -> str:
    """Return the condition that a row is of the backbone, and of one of these kinds (None: any)."""
    of_backbone = f"backbone == {_quoted(backbone)}"
    return of_backbone if kinds is None else both(of_backbone, any_key("kind", kinds))


def settled(changing: Iterable[Talk]) -> str:
    """Return the condition that hides unfinished and replaced rows of changing conversations."""
    new = [talk.key for talk in changing if talk.revision == 0]
    conditions = [f"not ({any_key(TALK, new)})"] if new else []
    for talk in changing:
        if talk.revision:
            hidden = f"revision > {talk.revision} or revision < {talk.since}"
            if talk.retired:
                hidden += f" or {any_key(ID, talk.retired)}"
            conditions.append(f"not ({TALK} == {_quoted(talk.key)} and ({hidden}))")
    return both(*conditions)


def _time(moment: Moment, comparison: str) -> str:
    by_clock = f"clock {comparison} {moment.clock}"
    if moment.instant is None:
        return by_clock
    return f"(instant is not null and instant {comparison} {moment.instant}) or (instant is null and {by_clock})"


def _quoted(key: str) -> str:
    if not key.replace("-", "").isalnum() or not key.isascii():
        raise ValueError(f"{key!r} has no place in an expression")
    return f'"{key}"'
