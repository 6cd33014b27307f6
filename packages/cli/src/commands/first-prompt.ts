import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextIfPresent } from '../settings/json-file.ts'
import type { Settings } from '../settings/resolve.ts'
import { writeFileAtomically } from '../settings/write-file.ts'

export const firstPrompt = 'hello'

const text = `---
# \`demo\` is built in and needs no key. Replace it by one of \`stet providers list\`.
provider: demo
model: demo
parameters:
  name: { type: text, required: true }
---
You greet people in one short sentence.

<user>
  My name is {{ name }}.
</user>
`

/** Files that contain keys: those of the guides, and the data folder of `stet serve`. */
const ignored = ['*.key', '.stet/']

/** True if the folder has nothing of the user but settings: dot files and an installed package. */
export async function isFresh({ root }: Settings): Promise<boolean> {
  const installed = ['node_modules', 'package.json', 'package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock']
  return (await readdir(root)).every((name) => name.startsWith('.') || installed.includes(name))
}

/** Writes an example prompt, and lines for keys into `.gitignore`. Replaces nothing. Returns the names of the files. */
export async function writeFirstPrompt({ root, config }: Settings): Promise<string[]> {
  const written: string[] = []
  const name = join(config.promptsDir, `${firstPrompt}.promptl`)
  if (!existsSync(join(root, name))) {
    await writeFileAtomically(join(root, name), text)
    written.push(name)
  }
  const before = (await readTextIfPresent(join(root, '.gitignore'))) ?? ''
  const lines = before.split(/\r?\n/)
  const missing = ignored.filter((line) => !lines.includes(line))
  if (missing.length > 0) {
    const gap = before === '' || before.endsWith('\n') ? '' : '\n'
    await writeFileAtomically(join(root, '.gitignore'), `${before}${gap}${missing.join('\n')}\n`)
    written.push('.gitignore')
  }
  return written
}
