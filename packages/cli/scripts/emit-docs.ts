/** Writes docs/cli.md from the command table. With `--check`, fails if the file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from '../src/command.ts'
import { commandTable } from '../src/commands/table.ts'
import { exitCodes } from '../src/exit-code.ts'
import { type Flag, globalFlags } from '../src/settings/global-flags.ts'

const file = fileURLToPath(new URL('../../../docs/cli.md', import.meta.url))

const codeMeanings: Record<keyof typeof exitCodes, string> = {
  success: 'success',
  unexpected: 'unexpected failure, skipped files, a problem found by `doctor`, or an incomplete `import --strict`',
  usage: 'wrong flag, missing input without a terminal, canceled question, no prompt files',
  differences: 'differences found by `check`, `status --check`, `types generate --check` or `diff --exit-code`',
  not_allowed: 'no key, an invalid key, or a key without the scope',
  not_found: 'no such project, version, prompt, run, conversation, API key or provider key',
  conflict: 'both sides changed, the version is published, or live changed',
  invalid: 'a prompt that does not compile, or invalid input',
  run_failed: 'the run failed, or any run of `bench`',
  unreachable: 'server not reachable, time limit exceeded, stream lost',
  rate_limited: 'still over the rate limit after the retries',
  verdict_failed: 'a draft is worse than its baseline, or does not pass a gate',
  inconclusive: 'the examples gave no result that can be trusted',
  interrupted: 'stopped by Ctrl-C',
  terminated: 'stopped by SIGTERM, which `run`, `chat`, `attach`, `bench` and `eval` treat like Ctrl-C',
}

const sections: string[] = []
for (const [name, entry] of Object.entries(commandTable)) sections.push(section(name, (await entry.load()).command))

const text = `# Command line

Use \`stet\` to keep prompts as files in sync with a project, publish drafts, and run prompts with live output. This page is generated
(\`pnpm --filter @stet/cli docs\`).

- Data goes to standard output, messages to standard error: \`stet run x > answer.txt\` saves only the answer.
- \`--json\` prints one JSON document. \`run\`, \`chat\` and \`attach\` print one line per event, then one with the result; \`runs tail\` prints
  a line \`{"event","data"}\` per start and end of a run, \`runs export\` always a line per run; \`serve\` prints
  \`{"api","data","firstKey","profile"}\` when it listens.
- Colors are used only on terminals. The order is \`NO_COLOR\`, the flags, \`FORCE_COLOR\`.
- Ctrl-C during \`run\`, \`chat\` and \`eval\` stops the run or the experiment on the server, and a second one exits at once. In \`attach\` and
  \`eval watch\` it only detaches. It ends \`runs tail\` with exit code 0.
- If a connection breaks during a run, the CLI reconnects up to three times in a row.
- Name versions, runs and conversations by their uuid or its first 8 digits, and prompts by path, file or folder, from any folder:
  \`support/reply\`, \`prompts/support/reply.promptl\`, \`.\`. After \`--\` a name may begin with a dash.
- Files are skipped, with exit code 1, if their names have characters other than letters, digits, \`.\`, \`-\`, \`_\`, are forbidden or equal on some
  file systems, or are links that lead outside the folder. Skipped files do not count as deleted.
- Questions are asked only if all three streams are terminals, \`CI\` is unset, and neither \`--json\` nor \`--no-input\` is given.
- Writes go to a draft. Only \`publish\`, \`rollback\` and \`projects import\` change live. A colleague's changes are never
  overwritten or deleted without \`--force\`, \`--theirs\`, \`--prune\` or a confirmation that lists them.
- \`push\` deletes the prompt of a missing file only with \`--delete\`, and \`pull\` deletes the file of a deleted prompt only with
  \`--prune\`. At a terminal, both list the paths and ask instead; \`--yes\` does not answer this question.
- Without any prompt file, \`check\`, \`status\` and \`push\` exit with 2. The first two accept \`--allow-empty\`.

## Settings

Settings come from flags, environment, \`stet.config.json\`, \`stet.lock.json\`, the stored login and defaults, in this order. \`--verbose\` shows
the origin of each value.

In a clone of stet's repository, \`npx stet <command>\` runs the program. Elsewhere, install the [tarballs](self-hosting.md#install) first: the packages are
not in the npm registry yet.

Keys and paths in a cloned repository:

- A stored key is sent only to the address it was stored for. A key from a flag or from \`STET_API_KEY\` is sent only to an address from
  \`--base-url\` or \`STET_BASE_URL\`, the default address, and addresses that have a login. In CI, set both variables.
- \`promptsDir\` and \`types.out\` must be inside the project and outside of \`.git\`, even if they are symbolic links.
- \`status\`, \`pull\`, \`diff\`, \`push\` and \`check\` may read the history with git. A repository cannot make them
  [run a program](security.md#the-command-line-in-a-cloned-repository).
- \`include\` and \`ignore\` are glob patterns relative to \`promptsDir\`: \`*\`, \`**\`, \`?\`, \`[a-c]\`, \`{a,b}\`, and \`drafts/\` for everything in
  a folder, with at most three wildcards between two slashes. A pattern that matches no prompt file causes a warning.

| file | content |
|---|---|
| \`stet.config.json\` | project root: \`baseUrl\`, \`projectId\`, \`promptsDir\`, \`include\`, \`ignore\`, \`types\`, \`profiles\`, and \`$schema\`, which \`init\` adds for editors if the package is installed; commit it |
| \`stet.lock.json\` | state of the last pull or push, the base of every comparison; commit it (\`stet.lock.<profile>.json\` for other profiles). If CI has published since, the base comes from git: [CI](ci.md) |
| \`~/.config/stet/credentials.json\` | stored logins, mode 0600 |
| \`~/.local/state/stet/recent.json\` | the last 200 conversations, which you can then name by their first digits; you may delete the file |
| \`~/.cache/stet/texts\` | prompt texts of the last 30 days, from which \`stet pull\` merges; you may delete the folder |

## Control characters

On standard output and standard error, control characters from a server are shown as \`\\u001b\`, and terminal commands such as window titles are
removed. These outputs keep every byte in pipes and files:

- the answer of \`run\`, \`chat\` and \`attach\` with \`--show text\` (the default)
- \`--json\` and \`conversations get --format json\`; on a terminal the characters are escaped as in JSON
- the files that commands write: \`pull\`, \`export\`, \`--save\`, \`--bundle\`, \`/save\`

## Global flags

${flagTable(globalFlags)}

## Commands

${sections.join('\n')}
## Imports

\`stet import\` converts prompts, compiles every file, and reports what it cannot convert with file, line and next step. Names become
valid paths, and references follow them. Variables are declared under \`parameters\`, as \`text\` unless their use shows another type.

| kind | source | result |
|---|---|---|
| \`latitude\` | folder of \`.promptl\` files, with or without \`latitude-lock.json\`; or a project URL with \`--source-key-stdin\` | texts stay unchanged |
| \`langfuse\` | JSON of the export or of one prompt; without a source, Langfuse's API: \`--url\` and the keys, or the variables of its own clients | the production version of each prompt; a text prompt becomes a user message, or stays text if others include it |
| \`openai\` | JSON of prompt objects: \`model\`, \`instructions\`, \`input\`, \`tools\`, \`text.format\`, \`variables\` | values of variables become defaults |
| \`dotprompt\` | \`.prompt\` files of dotprompt and of Humanloop | Picoschema becomes parameters and \`schema\`, Handlebars blocks become PromptL blocks |

White space around a message or a part, and indentation that all of its lines share, is not kept. For dotprompt:

- A partial on a line of its own becomes a reference. Other partials are inlined.
- Without an \`input.schema\`, types follow from the use: a parameter in \`{{#each}}\` takes a list, one in \`{{#with}}\` an object, and other values are
  refused with 422. \`{{list}}\` prints as JSON, and a loop over an object in an object prints nothing. With a schema, both are reported.
  \`null\` prints as \`null\`.
- A template that Handlebars cannot parse is skipped.

## Load tests

\`stet bench\` keeps \`--concurrency\` runs of a prompt active against a running server, or against several in turn, and reports runs per second,
first text, latency, errors by cause, and its own CPU. [Performance](performance.md#measure-your-installation) shows a report.

- Every run is a real one: the server stores it, and its provider is called. Before the first run, \`bench\` asks for confirmation (or needs
  \`--yes\`) unless it can look up (scope \`admin\`; \`read\` for prompts that name \`demo\`) that all provider keys of the prompt are \`demo\` or have a URL
  on this machine or in a private network.
- Failed requests and broken streams are failed runs, and are not repeated. A slot pauses 100 ms after a failed run, doubling to 1 s.
- The warm-up runs the prompt once on each server, then with the full concurrency. A first run that fails ends the command.
- At the end, or after Ctrl-C, \`bench\` waits 30 s (5 s) for active runs, then stops them. The server ends runs of \`--no-stream\` after its grace period
  (\`STET_GRACE_MS\`).
- The exit code is 8 if any run failed or had to be stopped. Percentiles cover successful runs only. With \`--json\`, times are milliseconds.

## Exit codes

| code | meaning |
|---|---|
${Object.entries(exitCodes)
  .map(([name, code]) => `| ${code} | ${codeMeanings[name as keyof typeof exitCodes]} |`)
  .join('\n')}

With \`--json\` a failure is one line on standard error:
\`{"error":{"code":"not_found","exitCode":5,"message":"…","errorCode":"NotFoundError","status":404,"next":"…","requestId":"…"}}\`.
`

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('docs/cli.md differs from the commands; run: pnpm --filter @stet/cli docs')
    process.exitCode = 1
  }
} else writeFileSync(file, text)

function section(name: string, { summary, args, flags, examples }: Command): string {
  const usage = Object.keys(args).map((form) => ` ${form}`)
  const rows = flags.length > 0 ? `\n${flagTable(flags)}\n` : ''
  return `### stet ${name}${usage.join('')}\n\n${summary}\n${rows}\n\`\`\`\n${examples.join('\n')}\n\`\`\`\n`
}

function flagTable(flags: readonly Flag[]): string {
  const rows = flags.map(({ long, short, value, variable, summary }) => {
    const names = [short, long].filter(Boolean).join(', ')
    return `| \`${value ? `${names} ${value}` : names}\` | ${variable ? `\`${variable}\`` : ''} | ${summary} |`
  })
  return `| flag | variable | meaning |\n|---|---|---|\n${rows.join('\n')}`
}
