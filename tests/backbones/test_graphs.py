"""What backbones with graphs share: Personalised PageRank and nearest links, against plain references."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.hipporag.network import pagerank, undirected
from goalmem_cli.backbones.structured.alike import nearest

LINKS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0.5, 1.0, 2.0])), max_size=20)


@given(LINKS, st.lists(st.sampled_from([0.0, 0.1, 1.0]), min_size=8, max_size=8), st.sampled_from([0.3, 0.5, 0.85]))
def test_pagerank_is_that_of_networkx(links: list[tuple[int, int, float]], reset: list[float], damping: float) -> None:
    """On any small graph, with parallel edges summed and nodes without an edge."""
    graph = networkx.MultiGraph()
    graph.add_nodes_from(range(8))
    links = [(one, other, weight) for one, other, weight in links if one != other]
    graph.add_weighted_edges_from(links)
    found = pagerank(undirected(8, *(list(zip(*links, strict=True)) or [(), (), ()])), np.array(reset), damping)
    if not sum(reset):
        assert not found.any()
        return
    start = dict(enumerate(reset))
    expected = networkx.pagerank(graph, alpha=damping, personalization=start, dangling=start, tol=1e-12, max_iter=500)
    assert found == pytest.approx([expected[node] for node in range(8)], abs=1e-6)


def test_a_walk_that_starts_at_one_end_stays_near_it() -> None:
    """On a path, the share falls with the distance from where it starts; what nothing leads to has none."""
    path = undirected(5, [0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    shares = pagerank(path, np.array([1.0, 0, 0, 0, 0]), 0.5)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] > shares[1] > shares[2] > shares[3] > shares[4] == 0


@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=3, max_size=3), max_size=12))
def test_nearest_compares_each_with_every_other(rows: list[list[float]]) -> None:
    """The same as sorting all of them, for each row."""
    vectors = np.array([row for row in rows if any(row)], dtype=np.float32).reshape(-1, 3)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = []
    for row, vector in enumerate(vectors):
        near = [(round(float(vector @ other), 6), place) for place, other in enumerate(vectors) if place != row]
        best = sorted((pair for pair in near if pair[0] >= 0.3), key=lambda pair: (-round(pair[0], 5), pair[1]))[:2]
        expected += [(row, place) for _, place in best]
    found = list(nearest(vectors, 2, 0.3))
    assert [(row, other) for row, other, _ in found] == expected
