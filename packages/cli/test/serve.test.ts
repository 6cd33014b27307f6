import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

test('the built program says its version, and a command that needs a server says when there is none', async () => {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  expect(await person.stet(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  expect(await person.stet(['whoami'], '', { CI: '1' })).toMatchObject({ code: 4, stdout: '' })
  const marks = await person.stet(['whoami', '--color'], '', { LANG: 'C', NO_COLOR: '1' })
  expect(marks.stderr.startsWith('[x] No API key')).toBe(true)
})

test('serve starts the server as a child, passes the signal on and gives its exit code', async () => {
  const folder = await temporaryFolder()
  const person = new Person(folder, { address: 'http://127.0.0.1:1' })
  // What --open calls on this system, in a folder of its own before all others.
  const opened = join(folder, 'opened.txt')
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
  const path = `${folder}:${process.env['PATH']}`
  const child = person.spawn(['serve', '--port', '0', '--data', './data', '--open'], { PATH: path })
  let stdout = ''
  const listening = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const address = /stet listening on (\S+)/.exec(stdout)?.[1]
      if (address) resolve(address)
    })
  })
  const address = await listening
  expect((await fetch(`${address}/ready`)).status).toBe(200)
  const openedText = () => readFile(opened, 'utf8').catch(() => '')
  await expect.poll(openedText, { timeout: 120_000 }).toBe(`${address}/docs\n`)
  const key = (await readFile(join(folder, 'data', 'admin.key'), 'utf8')).trim()
  expect(await person.stet(['login', '--api-key-stdin', '--base-url', address], key)).toMatchObject({ code: 0 })
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  await expect(fetch(`${address}/ready`)).rejects.toThrow()
})
