/** Writes docs/compatibility.md from what the tests of the clients showed; with `--check` it fails when the file differs. */
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

Point a client of the discontinued service that speaks API v3 to stet, and it works unchanged. This page is generated (\`pnpm
--filter @stet/server compatibility\`) from the results of the suite \`packages/server/test/clients\`, which runs on the embedded database; the suites of the routes run on both databases. How to point a client to stet: [moving from the discontinued service](moving.md), [Python](python.md).

| client | version | takes part as | methods that work | tests |
|---|---|---|---|---|
${overview.join('\n')}

The suite lists the methods by inspecting the objects of the published packages. A method without a test would be listed as
**NO TEST** and fail the suite. Strict models check responses and events: exactly the documented keys, integers where a client reads integers, and only known types and reasons.

## Methods

| client | version | method | result | tests |
|---|---|---|---|---|
${methodRows.join('\n')}

## Notes on several methods

| client | version | what | result | tests |
|---|---|---|---|---|
${behaviourRows.join('\n')}

## Where stet differs on purpose

| topic | discontinued server | stet | reason | tests |
|---|---|---|---|---|
${deviationRows.join('\n')}

Other routes, fields and headers of stet are additions, which clients ignore. The version that a client declares in
\`X-Latitude-SDK-Version\` changes three things. Without it, a run that ends with tool calls also sends \`tools-requested\`, which 4.1.9
needs. With 5.0 or 5.1, a streamed background run returns its events; otherwise it returns its uuid. With any version, messages contain only what strict clients accept: system text; user text, images and files; assistant text and tool calls (no \`reasoning\`). \`developer\` becomes \`system\`.
`

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('docs/compatibility.md differs from the results; run: pnpm --filter @stet/server compatibility')
    process.exitCode = 1
  }
} else writeFileSync(file, text)
