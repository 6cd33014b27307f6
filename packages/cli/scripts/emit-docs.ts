/** Writes docs/cli.md from the command table; with `--check` it fails when the file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from '../src/command.ts'
import { commandTable } from '../src/commands/table.ts'
import { exitCodes } from '../src/exit-code.ts'
import { type Flag, globalFlags } from '../src/settings/global-flags.ts'

const file = fileURLToPath(new URL('../../../docs/cli.md', import.meta.url))

const codeMeanings: Record<keyof typeof exitCodes, string> = {
  success: 'success',
  unexpected:
    'unexpected failure, files that were left out, a fault that `doctor` found, or a loss under `import --strict`',
  usage: 'wrong flag, missing input that nobody can be asked for, cancelled question',
  differences: 'differences found by `check`, `status --check`, `types generate --check` or `diff --exit-code`',
  not_allowed: 'no key, a wrong one, or one without the scope',
  not_found: 'no such project, version, prompt, conversation, key or provider',
  conflict: 'both sides changed, the version is published, or live moved',
  invalid: 'a prompt that does not compile, or input that is refused',
  run_failed: 'the run itself failed',
  unreachable: 'server not reachable, time limit, stream lost',
  rate_limited: 'still over the rate limit after the retries',
  interrupted: 'ended by Ctrl-C',
  terminated: 'ended by SIGTERM, which `run`, `chat` and `attach` take like Ctrl-C',
}

const sections: string[] = []
for (const [name, entry] of Object.entries(commandTable)) sections.push(section(name, (await entry.load()).command))

const text = `# Command line

\`stet\` keeps prompts as files in step with a project, publishes drafts and runs prompts with live output. This page is made from the
commands themselves (\`pnpm --filter @stet/cli docs\`).

- Data goes to standard output, everything for humans to standard error: \`stet run x > answer.txt\` holds the answer and nothing else.
- \`--json\` prints one JSON document; \`run\`, \`chat\` and \`attach\` print one line for each event, then one with the result; \`serve\` prints
  \`{"api","data","firstKey","profile"}\` when it listens.
- Colours only where a terminal looks, at each end by itself: data in a pipe are plain. \`NO_COLOR\`, the flags, \`FORCE_COLOR\`, in this order.
- Ctrl-C during \`run\` and \`chat\` stops the run on the server, a second one leaves at once; in \`attach\` it only leaves.
- A connection that breaks during a run is joined again, up to three times in a row: \`… reconnecting (1/3)\`.
- Versions and conversations are named by their uuid or its first 8 digits; prompts by their path or their file, folders too, from any
  folder: \`support/reply\`, \`prompts/support/reply.promptl\`, \`.\`. Behind \`--\` a name may begin with a dash.
- Files that cannot be prompts are named and left out with exit code 1, and the rest goes on: other characters than letters, digits, \`.\`,
  \`-\`, \`_\`, names that some system forbids or takes for one, links out of the folder. What lies there is not taken for deleted.
- Nothing is asked unless all three ends are a terminal, \`CI\` is unset, and neither \`--json\` nor \`--no-input\` is given.
- Writes go to a draft. Live is written by \`publish\`, and otherwise only with \`--force\`.
- What a colleague changed is never overwritten or deleted without \`--force\`, \`--theirs\`, \`--prune\` or a confirmation that lists it.

## Settings

Order: flag, environment, \`stet.config.json\`, \`stet.lock.json\`, stored login, default. \`--verbose\` says where each value comes from.

Outside of a clone, \`npx @stet/cli <command>\` runs the program without installing it, for example \`npx @stet/cli login\`. This needs a registry
that has the package; it is not published yet. In a clone of stet's repository use \`npx stet <command>\`.

Keys and paths of a cloned repository:

- A stored key is sent only to the address it was stored for. A key from a flag or from \`STET_API_KEY\` is sent to an address from
  \`--base-url\` or \`STET_BASE_URL\`, to the default address, and to addresses that have a login; never to one that only
  \`stet.config.json\` or \`stet.lock.json\` names. In CI set both variables.
- \`promptsDir\` and \`types.out\` must stay inside the project, also through symbolic links.
- \`include\` and \`ignore\` are glob patterns relative to \`promptsDir\`: \`*\`, \`**\`, \`?\`, \`[a-c]\`, \`{a,b}\`, and \`drafts/\` for everything in
  a folder. A pattern that matches no prompt file is a warning.
- On a terminal, control characters in names, texts and answers are shown as \`\\u001b\`, and terminal commands such as window titles are
  removed. Pipes get every byte unchanged.

| file | what it is |
|---|---|
| \`stet.config.json\` | project root: \`baseUrl\`, \`projectId\`, \`promptsDir\`, \`include\`, \`ignore\`, \`types\`, \`profiles\`, and \`$schema\`, which \`init\` writes where the package is installed, for editors; commit it |
| \`stet.lock.json\` | state of the last pull or push, the base of every comparison; commit it (\`stet.lock.<profile>.json\` for other profiles). Where CI published since, the base is found in git: [CI](ci.md) |
| \`~/.config/stet/credentials.json\` | stored logins, mode 0600 |
| \`~/.local/state/stet/recent.json\` | the last 200 conversations, so that the first digits name them; may be deleted |

## Global flags

${flagTable(globalFlags)}

## Commands

${sections.join('\n')}
## Imports

\`stet import\` converts what has a counterpart and reports the rest, one line for each loss with its file, line and what to do; every file is compiled afterwards. Names become
paths that can be pushed; references follow a prompt that got another name, and pass the variables that the referenced prompt needs, at any depth. All variables are
declared under \`parameters\`, as \`text\` unless their use says more. Files and entries that cannot be read, or not be written, are left out and named, and the rest goes on.

| kind | source | how it is read |
|---|---|---|
| \`latitude\` | folder of \`.promptl\` files, with or without \`latitude-lock.json\`; or the address of a project with \`--source-key-stdin\` | texts stay as they are |
| \`langfuse\` | JSON of the export, of one prompt, or of an API page | of each prompt the version in production; a text prompt becomes a user message, or stays text where others include it |
| \`openai\` | JSON of prompt objects: \`model\`, \`instructions\`, \`input\`, \`tools\`, \`text.format\`, \`variables\` | values of variables become defaults |
| \`dotprompt\` | \`.prompt\` files of dotprompt and of Humanloop | Picoschema becomes parameters and \`schema\`, Handlebars blocks become blocks of the language |

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
  const usage = args.map((one) => {
    const word = one.isMany ? `${one.name}...` : one.name
    return one.isRequired ? ` <${word}>` : ` [${word}]`
  })
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
