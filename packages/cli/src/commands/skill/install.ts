import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { findUpwards } from '../../settings/config-file.ts'
import { isWithin, readFormerText, writeFileAtomically } from '../../settings/write-file.ts'
import { shownFile } from '../../terminal/output.ts'

const skill = join('stet', 'SKILL.md')

interface InstallInput {
  dir: string | undefined
  isForced: boolean
}

interface InstallReport {
  file: string
  status: 'created' | 'replaced' | 'unchanged'
}

export const command = defineCommand({
  summary:
    'Writes instructions for coding agents: how they change prompts in a draft, and leave publishing to a person.',
  examples: ['stet skill install', 'stet skill install --dir .agents/skills', 'stet skill install --force'],
  flags: {
    '--dir <folder>': "folder of the agent's skills (.claude/skills of the repository)",
    '--force': 'replace a file with another text',
  },
  parse: (raw): InstallInput => ({ dir: raw.flags.dir, isForced: raw.flags.force }),
  async run({ dir, isForced }, { io }): Promise<InstallReport> {
    const file = dir === undefined ? await defaultFile(io.cwd) : resolve(io.cwd, dir, skill)
    const text = await readFile(packagedSkill(), 'utf8')
    const before = await readFormerText(file)
    if (before === text) return { file, status: 'unchanged' }
    if (before !== undefined && !isForced) {
      throw new CliError('conflict', `${shownFile(file, io.cwd)} has another text; nothing was written`, {
        hint: 'it was edited, or is of another release: pass --force to replace it',
      })
    }
    await writeFileAtomically(file, text)
    return { file, status: before === undefined ? 'created' : 'replaced' }
  },
  print({ file, status }, { io, say, style }) {
    io.out(`${file}\n`)
    const name = shownFile(file, io.cwd)
    if (status === 'unchanged') return say(`${style.ok} ${name} is up to date`)
    say(`${style.ok} ${status === 'created' ? 'Wrote' : 'Replaced'} ${name}`)
    say('  Commit it: agents that work in this repository read it')
  },
})

// The program is in dist/ of the package, its source two folders deeper.
function packagedSkill(): string {
  const places = ['..', '../../..'].map((up) => fileURLToPath(new URL(`${up}/skills/stet/SKILL.md`, import.meta.url)))
  const found = places.find((place) => existsSync(place))
  if (found !== undefined) return found
  throw new CliError('unexpected', 'The package has no skill', { hint: 'install @stet/cli again' })
}

// A checkout may contain a link that leads outside of it.
async function defaultFile(cwd: string): Promise<string> {
  const git = findUpwards(cwd, '.git')
  const root = git === undefined ? cwd : dirname(git)
  const file = join(root, '.claude', 'skills', skill)
  if (await isWithin(root, file)) return file
  throw new CliError('usage', `${relative(cwd, file)} is outside ${root}`, { hint: 'pass --dir <folder>' })
}
