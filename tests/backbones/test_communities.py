"""Communities of graphs that are known."""

import sys

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.structured.communities import Leiden, Link, check_installed, communities, largest_part
from goalmem_cli.errors import UsageError

KARATE: list[Link] = [(f"{one:02d}", f"{other:02d}", 1.0) for one, other in networkx.karate_club_graph().edges()]
LINKS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), st.sampled_from([0.5, 1.0, 2.0])))


def ring(count: int, size: int) -> list[Link]:
    """Return so many cliques in a ring, each linked to the next by one weak link."""
    inside = [
        (f"{clique}{one}", f"{clique}{other}", 1.0)
        for clique in range(count)
        for one in range(size)
        for other in range(one)
    ]
    return inside + [(f"{clique}0", f"{(clique + 1) % count}1", 0.1) for clique in range(count)]


def test_cliques_in_a_ring_are_its_communities() -> None:
    """Whatever the order of the links."""
    links = ring(5, 6)
    found = communities(links)
    assert [set(each.members) for each in found] == [{f"{clique}{one}" for one in range(6)} for clique in range(5)]
    assert {(each.level, each.parent) for each in found} == {(0, None)}
    assert communities([(other, one, weight) for one, other, weight in reversed(links)]) == found


def test_the_karate_club_falls_apart_where_it_did() -> None:
    """Its two leaders are in different communities, and the modularity is what Leiden finds: 0.42."""
    found = communities(KARATE, Leiden(max_size=34))
    of = {member: each.id for each in found for member in each.members}
    assert of["00"] != of["33"]
    graph = networkx.Graph([(one, other) for one, other, _ in KARATE])
    assert networkx.community.modularity(graph, [set(each.members) for each in found]) > 0.41


def test_large_communities_are_split_within_themselves() -> None:
    """What is below is a part of what is above, and what is left undivided is small enough."""
    found = communities(KARATE, Leiden(max_size=5))
    by_id = {each.id: each for each in found}
    split = {each.parent for each in found}
    assert max(each.level for each in found) > 0
    for each in found:
        if each.parent is not None:
            assert set(each.members) < set(by_id[each.parent].members)
            assert by_id[each.parent].level == each.level - 1
        assert each.id in split or len(each.members) <= 5


def test_a_higher_resolution_tells_more_apart() -> None:
    """And the same seed finds the same, however often it is asked."""
    coarse, fine = (communities(KARATE, Leiden(max_size=34, resolution=resolution)) for resolution in (0.5, 3.0))
    assert len(coarse) < len(communities(KARATE, Leiden(max_size=34))) < len(fine)
    for told in (Leiden(seed=7, randomness=0.5), Leiden(iterations=3)):
        assert communities(KARATE, told) == communities(KARATE, told)


def test_only_the_largest_part_where_that_is_wished() -> None:
    """Others are in no community; nothing at all in none."""
    links = [*ring(3, 5), ("x", "y", 3.0)]
    assert "x" not in {member for each in communities(links, is_largest_only=True) for member in each.members}
    assert "x" in {member for each in communities(links) for member in each.members}
    assert communities([]) == communities([("a", "a", 1.0), ("a", "b", 0.0)]) == []


@given(LINKS)
def test_the_largest_part_is_that_of_networkx(links: list[Link]) -> None:
    """And every node is in one community of the coarsest level."""
    graph = networkx.Graph([(one, other) for one, other, _ in links])
    sizes = [len(part) for part in networkx.connected_components(graph)]
    assert len(largest_part(links)) == max(sizes, default=0)
    top = [member for each in communities(links) if each.level == 0 for member in each.members]
    assert sorted(top) == sorted({end for one, other, _ in links if one != other for end in (one, other)})


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and what to install."""
    monkeypatch.setitem(sys.modules, "graspologic_native", None)
    for needed in (check_installed, lambda: communities(KARATE)):
        with pytest.raises(UsageError, match="not installed") as raised:
            needed()
        assert "goalmem[graphs]" in raised.value.hint
