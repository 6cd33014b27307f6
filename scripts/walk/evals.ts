/** Walks docs/evals.md: from a table of examples to what a draft breaks, with each exit code. */
import { run, say } from './commands.ts'
import { openDocument } from './document.ts'
import { makeFolder } from './quick-starts.ts'

const page = 'docs/evals.md'
const files = ['prompts/support/refund.promptl', 'refunds.csv']

/** A new user reaches the first result with so many commands and files. The server's start is the first. */
const mostActions = 12

/** What each block must print, in their order. */
const blocks: readonly { name: string; printed: readonly string[] }[] = [
  { name: 'first version', printed: [] },
  { name: 'second version', printed: ['✔ 3 broke, 5 fixed, 2 same', 'broke  us-card'] },
  { name: 'fails', printed: ['✖ 5 broke, 0 fixed, 5 same', 'exit code 11'] },
  { name: 'inconclusive', printed: ['without a score', 'inconclusive', 'exit code 12'] },
]

/** @param clone has a server at `address`, with its data in `.stet` */
export async function walkEvals(clone: string, address: string): Promise<void> {
  const document = openDocument(clone, page)
  const folder = await makeFolder(document.commands('folder'), clone)
  for (const file of files) document.write(file, folder)
  const actions = 2 + files.length + blocks.slice(0, 2).flatMap(({ name }) => document.commands(name)).length
  if (actions > mostActions) throw new Error(`${page} reaches its first result in ${actions} actions`)
  for (const { name, printed } of blocks) {
    let said = ''
    for (const command of document.commands(name)) said += await run(command, folder, { STET_BASE_URL: address })
    for (const text of printed) if (!said.includes(text)) throw new Error(`${page} did not print: ${text}`)
  }
  say(`${page}: ${actions} actions to the first result`)
}
