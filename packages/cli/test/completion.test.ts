import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { Terminal } from './support/terminal.ts'

const isThere = (shell: string): boolean => {
  if (!spawnSync(shell, ['--version']).error) return true
  console.warn(`\n*** SKIPPED: completion in ${shell}. Install ${shell} to run it. ***\n`)
  return false
}

async function scriptFor(shell: string): Promise<string> {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  const { code, stdout } = await person.stet(['completion', shell])
  expect(code).toBe(0)
  return stdout
}

test('bash completes commands, words of groups and flags, and leaves arguments to files', async () => {
  const file = join(await temporaryFolder(), 'stet.bash')
  await writeFile(file, await scriptFor('bash'))
  const complete = (...words: string[]): string[] => {
    const line = ['stet', ...words].map((word) => `'${word}'`).join(' ')
    const program = `source '${file}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _stet; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['--norc', '-c', program], { encoding: 'utf8' }).trim().split('\n')
  }
  expect(complete('pu')).toEqual(['push', 'pull', 'publish'])
  expect(complete('keys', '')).toEqual(['create', 'list', 'rotate', 'revoke'])
  expect(complete('types', 'g')).toEqual(['generate'])
  expect(complete('push', '--de')).toEqual(['--delete', '--debug'])
  expect(complete('push', '--dry-run', 'support/reply', '--n')).toEqual([
    '--name',
    '--new',
    '--no-moves',
    '--no-color',
    '--no-input',
    '--no-retry',
  ])
  expect(complete('--json', 'keys', 'cr')).toEqual(['create'])
  expect(complete('-C', 'app', '--project', '7', 'keys', 'cr')).toEqual(['create'])
  expect(complete('run', '')).toEqual([''])
  expect(complete('eval', 'sh')).toEqual(['show'])
  expect(complete('eval', 'show', '--ju')).toEqual(['--junit'])
  expect(complete('eval', '--ba')).toEqual(['--base-url', '--baseline'].reverse())
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'prompts', 'support'), { recursive: true })
  for (const name of ['reply', 'triage']) await writeFile(join(folder, 'prompts', 'support', `${name}.promptl`), 'x\n')
  await writeFile(join(folder, 'prompts', '$(touch owned).promptl'), 'x\n')
  const bin = fileURLToPath(new URL('../bin/stet.mjs', import.meta.url))
  await writeFile(join(folder, 'stet'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 })
  const program = (words: string, at: number) =>
    `source '${file}'; COMP_WORDS=(stet ${words}); COMP_CWORD=${at}; _stet; printf '%s\\n' "\${COMPREPLY[@]}"`
  const inFolder = (words: string, at: number): string[] => {
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOME: folder }
    const options = { encoding: 'utf8', cwd: folder, env } as const
    return execFileSync('bash', ['--norc', '-c', program(words, at)], options)
      .trim()
      .split('\n')
  }
  expect(inFolder('run support/r', 2)).toEqual(['support/reply'])
  expect(inFolder('mv support/t', 2)).toEqual(['support/triage'])
  expect(inFolder('push support/reply su', 3)).toEqual(['support/reply', 'support/triage'])
  expect((await readdir(folder)).sort()).not.toContain('owned')
  expect(complete('run', '--sh')).toEqual(['--show'])
})

test.runIf(isThere('fish'))('fish completes the same, with descriptions', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'stet.fish'), await scriptFor('fish'))
  const complete = (line: string): string[] => {
    const program = `source stet.fish; complete -C '${line}'`
    return execFileSync('fish', ['--no-config', '-c', program], { cwd: folder, encoding: 'utf8' }).trim().split('\n')
  }
  const wordsFor = (line: string): string[] => complete(line).map((text) => text.split('\t')[0] ?? '')
  expect(complete('stet types g')).toEqual(['generate\twrite TypeScript types of the prompts'])
  expect(wordsFor('stet pu')).toEqual(['publish', 'pull', 'push'])
  expect(wordsFor('stet keys ')).toEqual(['create', 'list', 'revoke', 'rotate'])
  expect(wordsFor('stet push --de')).toEqual(['--debug', '--delete'])
  expect(wordsFor('stet --json -C app keys cr')).toEqual(['create'])
  // Arguments are completed as files, even if they look like command words.
  for (const line of ['stet run s', 'stet push keys ', 'stet versions use '])
    expect(wordsFor(line)).toEqual(['stet.fish'])
})

/** Ctrl-G cancels the current line in zsh. */
const leaveLine = '\x07'

test.runIf(isThere('zsh'))('zsh completes the same, at a keyboard', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'stet.zsh'), await scriptFor('zsh'))
  const terminal = new Terminal(['zsh', '-f', '-i'], folder, { PATH: process.env['PATH'] ?? '', HOME: folder })
  terminal.type(`autoload -Uz compinit; compinit -D -u; source stet.zsh; precmd() { PS1="line-$((++n))> " }\r`)
  for (const [index, [typed, shown]] of (
    [
      ['stet types g', 'stet types generate '],
      ['stet keys cr', 'stet keys create '],
      ['stet -C app --project 7 keys rev', 'stet -C app --project 7 keys revoke '],
      ['stet push --del', 'stet push --delete '],
      ['stet run st', 'stet run stet.zsh '],
      ['stet versions use st', 'stet versions use stet.zsh '],
      ['stet pu', 'publish  pull     push'],
    ] as const
  ).entries()) {
    // Each word gets a new line, and zsh has read it first. After an edit, zsh prints only the difference from the previous
    // line, which depends on typing speed.
    await terminal.shows(`line-${index + 1}> `)
    terminal.type(`${typed}\t`)
    await terminal.shows(shown)
    terminal.type(leaveLine)
  }
  terminal.type('exit\r')
  await terminal.ended
})
