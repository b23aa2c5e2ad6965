"""The trace in the README is what the engine makes of the samples when the model says what their gold plan says."""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Question
from goalmem_cli.render.nodes import BRIEF
from goalmem_cli.render.tree import proof_tree
from goalmem_cli.store import Store
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.transcripts import read_file, transcript_files
from tests.lab.evaluation.gold_replies import GoldReplies
from tests.reasoners.scripting import MOMENT, TOGETHER

ROOT = Path(__file__).parents[1]
COSTS = re.compile(r"(?<=call, )[\d.].*$", re.MULTILINE)


def picture() -> str:
    """Return the README's trace, without its command and its answer line."""
    block = re.search(
        r"```text\n\$ goalmem ask --trace [^\n]+\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert block is not None
    return block[1].rstrip().rpartition("\n")[0]


def test_picture_is_a_real_trace(tmp_path: Path) -> None:
    """Real store, retrieval, checks and drawing: only the model's words are the gold plan's, and its cost is left out."""
    store = Store(tmp_path / "store", load_embedder("static"), announce=lambda _: None)
    conversations = [
        conversation for found in transcript_files([ROOT / "sample_convos"]) for conversation in read_file(found.path)
    ]
    store.add_all(conversations)
    momoco = next(conversation for conversation in conversations if conversation.name == "momoco-01")
    case = read_dataset([ROOT / "sample_convos" / "momoco.json"]).cases[0]
    script = GoldReplies(case, {turn.label: turn for turn in momoco.turns})
    engine = GoalMem(FlatBackbone(store), ScriptedModel(script), TOGETHER, Limits())
    trace = engine.answer(Question(case.question, MOMENT))
    page = StringIO()
    Console(file=page, width=80, markup=False, highlight=False).print(proof_tree(trace, BRIEF))
    drawn = "\n".join(line.rstrip() for line in page.getvalue().splitlines())

    assert COSTS.sub("...", drawn) == COSTS.sub("...", picture())
