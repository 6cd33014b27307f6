/** Writes docs/compatibility.md from the results of the client tests. With `--check`, fails if the file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DeviationResults } from '../test/clients/deviations/deviation-list.ts'
import type { ClientResults, MatrixEntry } from '../test/clients/matrix/client-matrix.ts'

const file = fileURLToPath(new URL('../../../docs/compatibility.md', import.meta.url))
const read = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../test/clients/results/${name}.json`, import.meta.url), 'utf8')) as T

const clients = ['latitude-5', 'latitude-5.2-5.7', 'latitude-4', 'python', 'cli'].map((name) =>
  read<ClientResults>(name),
)
const deviations = Object.entries(read<DeviationResults>('deviations'))

const cell = (text: string): string => text.replaceAll('|', '\\|')
const countOf = (entries: readonly { tests: Record<string, string> }[]): number =>
  entries.reduce((sum, { tests }) => sum + Object.keys(tests).length, 0)

const overview = clients.map(({ client, version, as, methods, behaviours }) => {
  const all = Object.values(methods)
  const working = all.filter(({ result }) => result.startsWith('works')).length
  const tests = countOf([...all, ...Object.values(behaviours)])
  return `| ${client} | ${version} | ${as} | ${working} of ${all.length} | ${tests} |`
})

const methodRows = clients.flatMap(({ client, version, methods }) =>
  Object.entries(methods).map(
    ([method, entry]) => `| ${client.replace(/ \(.*/, '')} | ${version} | \`${method}\` | ${resultCell(entry)} |`,
  ),
)

const behaviourRows = clients.flatMap(({ client, version, behaviours }) =>
  Object.entries(behaviours).map(
    ([title, entry]) => `| ${client.replace(/ \(.*/, '')} | ${version} | ${cell(title)} | ${resultCell(entry)} |`,
  ),
)

function resultCell({ result, note, tests }: MatrixEntry): string {
  const shown = result.startsWith('works') || result === 'not offered' ? result : `**${result}**`
  return `${shown}${note === undefined ? '' : `: ${cell(note)}`} | ${Object.keys(tests).length}`
}

const deviationRows = deviations.map(
  ([topic, { before, stet, reason, tests }]) =>
    `| ${cell(topic)} | ${cell(before)} | ${cell(stet)} | ${cell(reason)} | ${Object.keys(tests).length} |`,
)

const text = `# Compatibility with the published clients

A client of the discontinued service that uses API v3 works with stet unchanged: change only its server address and key, as
described in [moving from the discontinued service](moving.md) and [Python](python.md).

\`pnpm --filter @stet/server compatibility\` generates this page from the results of the suite \`packages/server/test/clients\`. That suite runs on the embedded database. The route suites run on both databases.

| client | version | tested as | methods that work | tests |
|---|---|---|---|---|
${overview.join('\n')}

The suite finds the methods in the published packages themselves. A method without a test is listed as **NO TEST** and fails the
suite. Strict models check responses and events: exactly the documented keys, integers where a client reads integers, and only known types and reasons.

## Methods

| client | version | method | result | tests |
|---|---|---|---|---|
${methodRows.join('\n')}

## Behavior across methods

| client | version | behavior | result | tests |
|---|---|---|---|---|
${behaviourRows.join('\n')}

## Intentional differences

| topic | discontinued server | stet | reason | tests |
|---|---|---|---|---|
${deviationRows.join('\n')}

stet's other routes, fields and headers are additions, which clients ignore. The version that a client sends in
\`X-Latitude-SDK-Version\` changes three things:

- Without it, a run that ends with tool calls also sends \`tools-requested\`, which 4.1.9 needs.
- With 5.0 or 5.1, a streamed background run returns its events. Otherwise it returns its uuid.
- With any version, messages contain only what strict clients accept: system text; user text, images and files; assistant text and tool calls (no \`reasoning\`). \`developer\` becomes \`system\`.

## Clients of OpenAI's API

They call prompts below \`/v1\` ([OpenAI's clients](start/openai-clients.md)). Each suite runs the published package, unchanged, against a server with a
scripted provider (\`packages/server/test/clients/openai\`, in \`pnpm test:long\`).

| client | version | checks that pass |
|---|---|---|
| openai-node | 7.59.0 | 25 of 25 |
| openai-python | 3.22.1 | 17 of 17, with \`STET_TEST_OPENAI_PYTHON\` |
| AI SDK (ai) with @ai-sdk/openai (Responses and chat), @ai-sdk/openai-compatible, @ai-sdk/open-responses | 7.0.173 with 4.0.118, 3.0.92, 2.0.36 | 31 of 31 |
| LangChain (@langchain/openai) | 1.6.0 | 8 of 8 |

Of the 17 checks of Open Responses (2026-04-24), 8 pass, run by hand in November 2026. The other 9 are out of scope: 7 need a WebSocket, 2 compaction. Not offered either: \`input_items\`, DELETE, conversations, files and embeddings.
`

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('docs/compatibility.md differs from the results; run: pnpm --filter @stet/server compatibility')
    process.exitCode = 1
  }
} else writeFileSync(file, text)
