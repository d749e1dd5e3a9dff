// Runs a state machine in JSONata the way Step Functions does, with scripted answers in place of AWS.
// Input: one line for each run, {definition, input, name, variables of the context, answers: {api: [answer, ...]}, the last answer repeats}.
// An answer is {result}, {error, cause} or {result, until: seconds}: given while less time than that has been waited.
const { createHash } = require("crypto");
const jsonata = require("jsonata");
const compiled = new Map();
let task; // what is being run, one after the other
let run;

class Failed extends Error {
  constructor(error, cause) { super(cause); this.error = error; this.cause = cause; }
}

async function evaluate(template, scope) {
  if (Array.isArray(template)) return Promise.all(template.map((item) => evaluate(item, scope)));
  if (template !== null && typeof template === "object") {
    const pairs = Object.entries(template).map(async ([key, item]) => [key, await evaluate(item, scope)]);
    return Object.fromEntries(await Promise.all(pairs));
  }
  if (typeof template !== "string" || !template.startsWith("{%") || !template.endsWith("%}")) return template;
  const text = template.slice(2, -2).trim();
  if (/\$(?![A-Za-z])/.test(text.replace(/"[^"]*"|\/[^/]*\//g, ""))) throw new Failed("IllegalVariable", text);
  if (!compiled.has(text)) {
    const expression = jsonata(text);
    // functions that Step Functions adds to JSONata
    expression.registerFunction("hash", (text, algorithm) =>
      createHash(algorithm.replace("-", "").toLowerCase()).update(text).digest("hex"), "<ss:s>");
    expression.registerFunction("uuid", () => (++run.uuids).toString(16).padStart(8, "0") + "-ffff", "<:s>");
    compiled.set(text, expression);
  }
  let value;
  try {
    value = await compiled.get(text).evaluate(undefined, scope);
  } catch (error) {
    throw new Failed("States.QueryEvaluationError", error.message);
  }
  if (value === undefined) throw new Failed("States.QueryEvaluationError", "undefined: " + text);
  return JSON.parse(JSON.stringify(value));
}

function answer(api) {
  const answers = task.answers[api];
  if (answers === undefined) throw new Error("no answer to " + api);
  while (answers.length > 1 && answers[0].until !== undefined && run.waited >= answers[0].until) answers.shift();
  const given = answers[0];
  if (answers.length > 1 && given.until === undefined) answers.shift();
  return given;
}

async function call(state, scope) {
  const api = state.Resource.split(":").pop();
  const args = await evaluate(state.Arguments, scope);
  for (let attempt = 0; ; attempt += 1) {
    run.calls.push([api, args]);
    const given = answer(api);
    run.events += 3; // scheduled, started, ended
    if (given.error === undefined) return given.result;
    const retry = (state.Retry ?? [])[0];
    if (retry === undefined || attempt >= retry.MaxAttempts) throw new Failed(given.error, given.cause);
    run.waited += Math.min(retry.IntervalSeconds * retry.BackoffRate ** attempt, retry.MaxDelaySeconds);
  }
}

// A map's iterations see the variables outside of it and set their own.
async function execute(machine, input, variables) {
  let name = machine.StartAt;
  for (let steps = 0; steps < 20000; steps += 1) {
    const state = machine.States[name];
    const states = { input, context: { Execution: task.execution } };
    const scope = (extra = {}) => ({ ...variables, states: { ...states, ...extra } });
    const assign = async (template, extra) => Object.assign(variables, await evaluate(template ?? {}, scope(extra)));
    run.events += state.Type === "Succeed" || state.Type === "Fail" ? 1 : 2; // entered, exited
    run.visited.push(name);
    let next = state.Next;
    if (state.Type === "Fail") {
      throw new Failed(await evaluate(state.Error, scope()), await evaluate(state.Cause, scope()));
    } else if (state.Type === "Succeed") {
      return input;
    } else if (state.Type === "Pass") {
      await assign(state.Assign);
    } else if (state.Type === "Wait") {
      const seconds = await evaluate(state.Seconds, scope());
      if (!Number.isInteger(seconds) || seconds < 1) throw new Error("cannot wait " + seconds);
      run.waited += seconds;
    } else if (state.Type === "Choice") {
      next = state.Default;
      for (const choice of state.Choices) {
        const chosen = await evaluate(choice.Condition, scope());
        if (typeof chosen !== "boolean") throw new Failed("States.QueryEvaluationError", "no boolean: " + choice.Condition);
        if (chosen) {
          await assign(choice.Assign);
          next = choice.Next;
          break;
        }
      }
    } else if (state.Type === "Map") {
      const results = [];
      for (const item of await evaluate(state.Items, scope())) {
        results.push(await execute(state.ItemProcessor, item, { ...variables }));
      }
      input = results;
    } else if (state.Type === "Task") {
      try {
        const result = await call(state, scope());
        const output = state.Output === undefined ? result : await evaluate(state.Output, scope({ result }));
        await assign(state.Assign, { result });
        input = output;
      } catch (error) {
        const caught = (state.Catch ?? [])[0];
        if (!(error instanceof Failed) || caught === undefined) throw error;
        const errorOutput = { Error: error.error, ...(error.cause === undefined ? {} : { Cause: error.cause }) };
        const output = caught.Output === undefined ? errorOutput : await evaluate(caught.Output, scope({ errorOutput }));
        await assign(caught.Assign, { errorOutput });
        input = output;
        next = caught.Next;
      }
    } else {
      throw new Error("unknown state type " + state.Type);
    }
    if (next === undefined) return input; // an end that nothing was caught at
    name = next;
  }
  throw new Error("no end");
}

async function outcome(text) {
  task = JSON.parse(text);
  run = { calls: [], waited: 0, events: 1, uuids: 0, visited: [] };
  try {
    run.output = await execute(task.definition, task.input, {});
    run.status = "SUCCEEDED";
  } catch (error) {
    if (!(error instanceof Failed)) return { crash: error.stack };
    Object.assign(run, { status: "FAILED", error: error.error, cause: error.cause });
  }
  return run;
}

(async () => {
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await outcome(line)) + "\n");
  }
})();
