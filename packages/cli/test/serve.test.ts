import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { installServer } from './support/fake-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const nowhere = { address: 'http://127.0.0.1:1' }

test('the built program prints its version, and a command that needs a server fails without one', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const program = (argv: string[]) => {
    const child = person.spawn(argv)
    const closed = once(child, 'close')
    return Promise.all([text(child.stdout), text(child.stderr), closed.then(([code]) => code)])
  }
  expect(await program(['--version'])).toEqual([`${version}\n`, '', 0])
  expect(await program(['whoami'])).toEqual(['', expect.stringContaining('No API key'), 4])
})

test('serve prints its address, saves the first key if allowed, and ends with its server', async () => {
  const folder = await temporaryFolder()
  const person = new Person(folder, nowhere)
  // The first `xdg-open` in PATH is a fake for --open.
  const opened = join(folder, 'opened.txt')
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
  const path = `${folder}:${process.env['PATH']}`
  const databaseFiles = () => readdir(join(folder, 'data', 'db'))
  const child = person.spawn(['serve', '--port', '0', '--data', './data', '--open', '--yes'], { PATH: path })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece
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

  expect(await databaseFiles()).toContain('stet-lock')
  // Killing the CLI must also stop the server. The server's output stream stays open meanwhile.
  child.kill('SIGKILL')
  // The server releases the lock last, after the port and the final writes.
  await expect.poll(databaseFiles, { timeout: 120_000 }).not.toContain('stet-lock')
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  'serve --json prints the address, forwards %s and returns the exit code',
  async (signal) => {
    const person = new Person(await temporaryFolder(), nowhere)
    await installServer(
      person,
      `process.once('${signal}', () => process.exit(3)); setInterval(() => {}, 1e6)
    console.log('stet listening on http://127.0.0.1:1')`,
    )
    const running = person.start(['serve', '--data', './data', '--json'])
    await running.prints('stdout', '\n')
    const api = 'http://127.0.0.1:1/api/v3'
    expect(JSON.parse(running.stdout)).toEqual({ api, data: './data', firstKey: null, profile: null })
    running.interrupt(signal)
    expect(await running.ended).toMatchObject({ code: 3 })
  },
)

test('a server that does not start: the reason is one line of JSON', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  await installServer(person, `console.error('port 1 is in use'); process.exit(1)`)
  const failed = await person.stet(['serve', '--json'])
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  const { error } = JSON.parse(failed.stderr)
  expect(error).toMatchObject({ code: 'unexpected', exitCode: 1, lines: ['port 1 is in use'] })
})

test('serve lets the C library return freed memory', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  await installServer(person, `console.error(process.env.MALLOC_MMAP_THRESHOLD_); process.exit(1)`)
  const { error } = JSON.parse((await person.stet(['serve', '--json'])).stderr)
  expect(error).toMatchObject({ lines: ['32768'] })
})
