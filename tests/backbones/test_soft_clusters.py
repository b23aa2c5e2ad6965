"""Soft clusters against blobs that are apart, and against whatever is small or odd."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.structured.soft_clusters import Clustering, Reducer, soft_clusters
from goalmem_cli.errors import UsageError
from goalmem_cli.ports import Vectors
from tests.conftest import examples

PCA = Clustering(Reducer.PCA, dimension=3, components=8)


def blobs(sizes: list[int], seed: int = 0) -> tuple[Vectors, list[set[int]]]:
    """Return points around as many directions as there are sizes, shuffled, and which rows belong together."""
    random = np.random.default_rng(seed)
    centres = np.eye(32)[: len(sizes)]
    of = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    points = centres[of] + random.normal(scale=0.03, size=(len(of), 32))
    vectors = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return vectors, [set(np.flatnonzero(of == blob).tolist()) for blob in range(len(sizes))]


@pytest.mark.parametrize("reducer", [Reducer.PCA, pytest.param(Reducer.UMAP, marks=pytest.mark.slow)])
def test_blobs_are_told_apart(reducer: Reducer) -> None:
    """No cluster has rows of two, every row is in one, and the same vectors give the same clusters."""
    vectors, expected = blobs([30, 25, 40])
    told = Clustering(reducer)
    found = [set(rows.tolist()) for rows in soft_clusters(vectors, told)]
    assert all(any(cluster <= blob for blob in expected) for cluster in found)
    assert set().union(*found) == set(range(95))
    assert [set(rows.tolist()) for rows in soft_clusters(vectors, told)] == found


def test_a_row_between_two_belongs_to_both() -> None:
    """From the least membership on; with another least, it is in one alone."""
    random = np.random.default_rng(1)
    ends = np.repeat(np.eye(8)[:2], 20, axis=0) + random.normal(scale=0.12, size=(40, 8))
    between = np.full((6, 8), 0.0)
    between[:, :2] = 0.5
    vectors = np.concatenate((ends, between + random.normal(scale=0.12, size=(6, 8)))).astype(np.float32)

    def times(membership: float) -> int:
        found = soft_clusters(vectors, Clustering(Reducer.PCA, 2, 3, membership))
        return sum(len(rows) for rows in found)

    assert times(0.001) > len(vectors)
    assert times(0.999999) == len(vectors)


def test_another_seed_may_find_others() -> None:
    """Where nothing is apart; the same seed finds the same."""
    vectors = np.random.default_rng(1).normal(size=(40, 16)).astype(np.float32)

    def found(seed: int) -> set[tuple[int, ...]]:
        told = Clustering(Reducer.PCA, 3, 20, seed=seed)
        return {tuple(rows.tolist()) for rows in soft_clusters(vectors, told)}

    assert found(0) == found(0) != found(224)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=4, max_size=4), max_size=30))
def test_whatever_the_rows_each_is_in_a_cluster(rows: list[list[float]]) -> None:
    """Few, equal, or all on a line: nothing is lost, and nothing is in a cluster twice."""
    vectors = np.array(rows, dtype=np.float32).reshape(-1, 4)
    found = soft_clusters(vectors, PCA)
    assert {row for each in found for row in each.tolist()} == set(range(len(rows)))
    assert all(len(set(each.tolist())) == len(each) > 0 for each in found)
    if len(rows) <= PCA.dimension + 1:
        assert len(found) == min(1, len(rows))


@pytest.mark.parametrize(("package", "reducer"), [("umap", Reducer.UMAP), ("sklearn.mixture", Reducer.PCA)])
def test_without_the_packages_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, package: str, reducer: Reducer
) -> None:
    """One line, and what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    vectors, _ = blobs([20])
    with pytest.raises(UsageError, match="not installed") as raised:
        soft_clusters(vectors, Clustering(reducer))
    assert "goalmem[clusters]" in raised.value.hint
    assert ("pca" in raised.value.hint) == (reducer is Reducer.UMAP)
