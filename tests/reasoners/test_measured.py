"""Where the time of a question went, and which prompts are kept."""

from goalmem_cli.ports import GrammarShape, Request
from goalmem_cli.reasoners.measured import MeasuredModel
from goalmem_cli.stages import REST, stage, watching
from goalmem_cli.testing import ScriptedModel

REQUEST = Request("read", "Answer.", (), "F1. Ana: Hello.\n", "Question: Who?", GrammarShape("root ::= [a-z]+"))


def test_prompts_of_a_backbone_are_not_kept() -> None:
    """They may hold texts that the trace's facts do not have; their time and tokens count."""
    own, other = MeasuredModel(ScriptedModel(["one", "more"])), MeasuredModel(ScriptedModel(["two"]), is_private=True)
    with watching(keeps_prompts=True) as watch:
        own.complete([REQUEST])
        own.complete([REQUEST])
        other.complete([REQUEST])

    assert [each.reply for each in watch.exchanges] == ["one", "more"]
    assert watch.exchanges[0].messages == (("system", "Answer."), ("user", "F1. Ana: Hello.\nQuestion: Who?"))
    assert {each.name: each.times for each in watch.stages} == {"model: read": 3, REST: 1}
    assert (watch.shown, watch.written) == ({"read": 2}, {"read": 2})
    assert (watch.last_tokens, watch.memory_tokens > 0) == (2, True)


def test_a_stage_counts_without_the_stages_in_it() -> None:
    """Also where something is raised; outside of a watch nothing is counted."""
    with watching() as watch:
        try:
            with stage("outer"), stage("inner"):
                raise ValueError("broken")
        except ValueError:
            pass
        with watching() as same, stage("outer"):
            assert same is watch
    with stage("outer"):
        pass

    assert {each.name: each.times for each in watch.stages} == {"outer": 2, "inner": 1, REST: 1}
    assert all(each.seconds >= 0 for each in watch.stages)
