"""Turn a project into sentence pairs again, as any format can write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import and_, select

from alignkit.annotate.log.conversion import annotation_of
from alignkit.annotate.log.state import decode_state
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.last_changes import last_changes
from alignkit.annotate.tables.pair_lists import PairList
from alignkit.annotation import Annotation
from alignkit.sentence_pair import SentencePair
from alignkit.trees import Tree

_CHUNK = 500


def exported(
    store: Store,
    *,
    annotator: str | None = None,
    done: bool = False,
    unfinished: Counter[str] | None = None,
    assigned: bool = False,
    outdated: Counter[str] | None = None,
) -> Iterator[SentencePair]:
    """Yield all pairs with what the annotators said of them; see `conversion.annotation_of`.

    Each annotation has the time of its last change, as far as known (`last_changes`).
    """
    with store.database.reading() as conn:
        account = None if annotator is None else queries.account_of(conn, annotator)
        names = dict(enumerate(queries.annotators(conn), 1))
        table = schema.stream.c
        asked = select(table.pair, table.account, table.state)
        if account is not None:
            asked = asked.where(table.account == account)
        scheme, judged = queries.scheme_of(conn), queries.judged_pairs(conn)
        pairs = queries.pair_rows(conn)
        own = None if account is None or not assigned else PairList(conn, account).numbers()
        for start in range(1, queries.count_pairs(conn) + 1, _CHUNK):
            some = asked.where(and_(table.pair >= start, table.pair < start + _CHUNK))
            said: dict[int, dict[str, Annotation]] = {}
            changed = last_changes(conn, start, start + _CHUNK)
            trees = queries.trees_of(conn, start, start + _CHUNK)
            for k, who, text in conn.execute(some.order_by(table.pair, table.account)):
                state = decode_state(text)
                if done and not state.done:
                    continue
                when = changed.get((k, who))
                annotation = annotation_of(state, scheme, when, judged=(k, who) in judged)
                if annotation is None:
                    continue
                if unfinished is not None and annotation.alignment is not None and not state.done:
                    unfinished[names[who]] += 1
                said.setdefault(k, {})[names[who]] = annotation
            for k in range(start, start + _CHUNK):
                pair = next(pairs, None)
                if pair is None:
                    return
                if own is not None and pair.k not in own:
                    continue
                annotations = said.get(k, {})
                made = SentencePair(pair.id, pair.source, pair.target, annotations, pair.attributes)
                yield _with_trees(made, trees[k], outdated) if k in trees else made


def _with_trees(
    pair: SentencePair, texts: dict[str, dict[str, str]], outdated: Counter[str] | None
) -> SentencePair:
    kept: dict[str, dict[str, Tree]] = {"source": {}, "target": {}}
    for side, named in texts.items():
        for name, text in named.items():
            tree = Tree.parse(text)
            if tree.words == getattr(pair, side):
                kept[side][name] = tree
            elif outdated is not None:
                outdated[side] += 1
    return replace(pair, source_trees=kept["source"], target_trees=kept["target"])
