import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readPromptfoo } from '../../src/commands/examples/promptfoo/read-promptfoo.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** Reads a configuration of promptfoo beside other files. */
export async function readPromptfooFiles(text: string, files: Record<string, string> = {}) {
  const folder = await temporaryFolder()
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  const { rows, losses } = await readPromptfoo({ folder, shown: 'evals/config.yaml', text })
  return {
    rows: rows.map(({ change, name, line, file }) => ({ ...change, ...(name !== undefined && { name }), line, file })),
    losses: losses.map(({ line, message }) => `${line}: ${message}`),
  }
}
