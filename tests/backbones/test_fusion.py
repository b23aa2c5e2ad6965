"""Reciprocal rank fusion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.fusion import fuse


def test_the_formula() -> None:
    """A unit's score is the sum of weight / (constant + rank) over the lists that have it."""
    fused = fuse({"words": ["a", "b"], "vectors": ["b"]}, {"words": 1.0, "vectors": 2.0}, constant=10.0)
    assert [best.unit for best in fused] == ["b", "a"]
    assert fused[0].score == pytest.approx(1 / 12 + 2 / 11)
    assert fused[1].score == pytest.approx(1 / 11)
    assert fused[0].ranks == {"words": 2, "vectors": 1}
    assert fused[1].ranks == {"words": 1}


def test_lists_without_a_weight_do_not_count() -> None:
    """The weights say which lists are fused."""
    assert [best.unit for best in fuse({"words": ["a"], "vectors": ["b"]}, {"words": 1.0})] == ["a"]


def test_equal_scores_come_in_the_order_of_ids() -> None:
    """The order does not hang on the order of the lists."""
    assert [best.unit for best in fuse({"x": ["b"], "y": ["a"]}, {"x": 1.0, "y": 1.0})] == ["a", "b"]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=4))
def test_fusion_keeps_every_unit_once_and_sorts(lists: list[list[str]]) -> None:
    """Nothing is lost or doubled, scores fall, and a single list keeps its order."""
    named = {str(number): units for number, units in enumerate(lists)}
    fused = fuse(named, dict.fromkeys(named, 1.0))
    assert sorted(best.unit for best in fused) == sorted({unit for units in lists for unit in units})
    assert [best.score for best in fused] == sorted((best.score for best in fused), reverse=True)
    if len(lists) == 1:
        assert [best.unit for best in fused] == lists[0]
