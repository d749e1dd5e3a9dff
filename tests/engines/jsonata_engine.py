"""The reference JSONata engine, in one Node.js process for many expressions."""

import json
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

_SCRIPT = """
const jsonata = require("jsonata");
const tasks = JSON.parse(require("fs").readFileSync(0, "utf8"));
(async () => {
  const results = [];
  for (const [text, bindings] of tasks) {
    try {
      const expression = jsonata(text);
      // Step Functions adds this function to JSONata
      expression.registerFunction("uuid", () => "0123abcd-ffff-4fff-8fff-ffffffffffff", "<:s>");
      const value = await expression.evaluate(undefined, bindings);
      results.push(value === undefined ? {undefined: true} : {value});
    } catch (error) {
      results.push({error: error.message ?? String(error)});
    }
  }
  process.stdout.write(JSON.stringify(results));
})();
"""


def evaluate(tasks):
    """Evaluate pairs of an expression, as it stands in a state, and its variables.

    Each result is `{"value": ...}`, `{"error": ...}` or `{"undefined": True}`.
    """
    node = shutil.which("node") or ROOT / ".venv" / "bin" / "node"
    # variables may be raw JSON text, so that numbers reach the engine as they were written
    rendered = ", ".join(
        f"[{json.dumps(bare(text))}, {bindings if isinstance(bindings, str) else json.dumps(bindings)}]"
        for text, bindings in tasks
    )
    done = subprocess.run(
        [node, "-e", _SCRIPT], input=f"[{rendered}]", capture_output=True, text=True, cwd=ROOT, check=True, timeout=60
    )
    return json.loads(done.stdout)


def bare(text):
    """An expression without its braces."""
    assert text.startswith("{%"), text
    assert text.endswith("%}"), text
    return text.removeprefix("{%").removesuffix("%}").strip()
