import { resolve } from 'node:path'
import type { Example } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { writeFileAtomically } from '../../settings/write-file.ts'
import { countOf, shownFile } from '../../terminal/output.ts'
import { findPrompt } from './find-prompt.ts'
import { jsonlOf } from './rows/read-jsonl.ts'

export const command = defineCommand({
  summary: 'Prints the examples of a prompt as JSON Lines. An import of this file changes nothing.',
  examples: [
    'stet examples export support/refund > rows.jsonl',
    'stet examples export support/refund --out rows.jsonl',
  ],
  args: { '<path>': 'the path of the prompt' },
  flags: { '--out <file>': 'write to this file' },
  parse: (raw) => ({ path: raw.args[0] ?? '', out: raw.flags.out }),
  async run({ path, out }, ctx): Promise<{ path: string; file: string | null; examples: Example[] }> {
    const { client, projectId, documentUuid, path: found } = await findPrompt(path, ctx)
    const examples = await client.examples.list(documentUuid, { projectId })
    if (out === undefined) return { path: found, file: null, examples }
    const file = resolve(ctx.io.cwd, out)
    await writeFileAtomically(file, textOf(examples))
    return { path: found, file: shownFile(file, ctx.io.cwd), examples }
  },
  print({ file, examples }, { io, say, style }) {
    if (file === null) io.out(textOf(examples))
    else say(`${style.ok} ${countOf(examples.length, 'row')} in ${file}`)
  },
})

function textOf(examples: readonly Example[]): string {
  return examples.map((example) => `${jsonlOf(example)}\n`).join('')
}
