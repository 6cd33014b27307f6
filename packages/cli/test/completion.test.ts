import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

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
    '--no-color',
    '--no-input',
    '--no-retry',
  ])
  expect(complete('--json', 'keys', 'cr')).toEqual(['create'])
  expect(complete('-C', 'app', '--project', '7', 'keys', 'cr')).toEqual(['create'])
  expect(complete('run', 'some')).toEqual([''])
})

test.each(['zsh', 'fish'])('the script for %s names every command and its flags', async (shell) => {
  const script = await scriptFor(shell)
  for (const word of ['push', 'generate', 'doctor', 'rotate', 'dry-run', 'base-url']) expect(script).toContain(word)
  expect(script).not.toContain('undefined')
})

test('another shell is a usage failure', async () => {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  expect(await person.stet(['completion', 'csh'])).toMatchObject({ code: 2, stdout: '' })
})
