import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

test('the built program prints its version, and a command that needs a server fails without one', async () => {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  expect(await person.stet(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  expect(await person.stet(['whoami'], '', { CI: '1' })).toMatchObject({ code: 4, stdout: '' })
  const marks = await person.stet(['whoami', '--color'], '', { LANG: 'C', NO_COLOR: '1' })
  expect(marks.stderr.startsWith('[x] No API key')).toBe(true)
})

test('serve prints its address, saves the first key if allowed, forwards signals and returns the exit code', async () => {
  const folder = await temporaryFolder()
  const person = new Person(folder, { address: 'http://127.0.0.1:1' })
  // The first `xdg-open` in PATH is a fake for --open.
  const opened = join(folder, 'opened.txt')
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
  const path = `${folder}:${process.env['PATH']}`
  const child = person.spawn(['serve', '--port', '0', '--data', './data', '--open', '--yes'], { PATH: path })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  await expect.poll(() => stderr, { timeout: 120_000 }).toContain('First API key')
  const key = (await readFile(join(folder, 'data', 'admin.key'), 'utf8')).trim()
  // git must not offer to commit a key inside a checkout.
  expect(await readFile(join(folder, 'data', '.gitignore'), 'utf8')).toBe('*\n')
  expect(stdout).toBe('')
  const [, address = ''] = /^✔ API {3}(\S+)\/api\/v3$/m.exec(stderr) ?? []
  expect(stderr).toContain('✔ Data  ./data (schema up to date)\n')
  expect(stderr).toContain(`! First API key: ${key}  (shown once; saved to profile local)\n`)
  expect((await fetch(`${address}/ready`)).status).toBe(200)
  const openedText = () => readFile(opened, 'utf8').catch(() => '')
  const link = /^(\S+)\/sign-in#([\w-]{43})\n$/
  await expect.poll(openedText, { timeout: 120_000 }).toMatch(link)
  const [, page, secret = ''] = link.exec(await openedText()) ?? []
  expect(page).toBe(address)
  // The printed link is another one.
  expect(stderr).toMatch(/^console: \S+\/sign-in#\S{43} \(works once, for 15 minutes; later: stet console\)$/m)
  expect(stderr).not.toContain(secret)
  const local = ['--profile', 'local', '--base-url', address]
  expect(await person.stet(['whoami', ...local])).toMatchObject({ code: 0 })

  // A second server on the same port prints the reason as one line of JSON and saves no key.
  const second = await person.stet(['serve', '--port', new URL(address).port, '--data', './other', '--json'])
  expect(second).toMatchObject({ code: 1, stdout: '' })
  const { error } = JSON.parse(second.stderr)
  expect(error).toMatchObject({ code: 'unexpected', exitCode: 1, lines: expect.any(Array) })
  expect(error.lines.join('\n')).toContain('is in use')

  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  // Checks with the key, because another process may take the free port.
  const isAnswering = await fetch(`${address}/api/v3/me`, { headers: { authorization: `Bearer ${key}` } }).then(
    ({ ok }) => ok,
    () => false,
  )
  expect(isAnswering).toBe(false)

  const again = person.spawn(['serve', '--port', '0', '--data', './data', '--json'])
  const [line] = await once(again.stdout.setEncoding('utf8'), 'data')
  const told = { api: expect.stringMatching(/^http:.*\/api\/v3$/), data: './data', firstKey: null, profile: null }
  expect(JSON.parse(line)).toEqual(told)
  // Without a terminal, the child does not receive Ctrl-C directly.
  again.kill('SIGINT')
  expect((await once(again, 'close'))[0]).toBe(0)

  // Killing the CLI must also stop the server. The server's output stream stays open meanwhile.
  const killed = person.spawn(['serve', '--port', '0', '--data', './data'])
  let said = ''
  killed.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, { timeout: 120_000 }).toMatch(/^✔ API {3}\S+\n/m)
  const databaseFiles = () => readdir(join(folder, 'data', 'db'))
  expect(await databaseFiles()).toContain('stet-lock')
  killed.kill('SIGKILL')
  // The server releases the lock last, after the port and the final writes.
  await expect.poll(databaseFiles, { timeout: 120_000 }).not.toContain('stet-lock')
})
