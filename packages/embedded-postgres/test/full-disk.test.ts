import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPglite } from '../src/open-pglite.ts'
import { type ProgramEnd, programEnd, startProgram } from './support/child-program.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate, threadFile } from './support/database.ts'
import { isSkippedWithoutSmallDisk, type SmallDisk, smallDisk } from './support/isolation.ts'

const skips = isSkippedWithoutSmallDisk('the engine on a full disk')

describe.skipIf(skips)('the engine on a full disk', () => {
  let mount: SmallDisk
  let directory: string
  let child: ChildProcess
  let end: Promise<ProgramEnd>

  beforeEach(async () => {
    mount = smallDisk(100)
    directory = join(mount.path, 'db')
    await copyDatabase(await itemTemplate(), directory)
    child = startProgram(new URL('support/full-disk-child.ts', import.meta.url), threadFile, directory)
    end = programEnd(child)
    await once(child, 'message')
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    await end
    mount.close()
  })

  it('ends the process with one line when a checkpoint panics, and restarts with every acknowledged row', async () => {
    child.send(`INSERT INTO item (name) VALUES ('acknowledged')`)
    expect(await once(child, 'message')).toContain('done')
    mount.fill()
    const answered = once(child, 'message').then(([answer]) => `it went on: ${answer}`)
    child.send('CHECKPOINT')
    expect(await Promise.race([end, answered])).toEqual({
      code: null,
      signal: 'SIGKILL',
      stdout: '',
      stderr: expect.stringMatching(
        /^test: the embedded database stops because its engine failed: could not write [^\n]* No space left on device\n$/,
      ),
    })
    mount.empty()
    const pglite = await openPglite(folderOf(directory))
    const { rows } = await pglite.query('SELECT name FROM item')
    expect(rows).toEqual([{ name: 'acknowledged' }])
    await pglite.close()
  })

  it('ends the process with one line when the write-ahead log cannot be written', async () => {
    mount.fill()
    const answered = once(child, 'message').then(([answer]) => `it went on: ${answer}`)
    child.send(`SELECT pg_logical_emit_message(true, 'test', repeat('x', 1000000)) FROM generate_series(1, 30)`)
    expect(await Promise.race([end, answered])).toMatchObject({
      signal: 'SIGKILL',
      stderr: 'test: the embedded database stops because a write of the log failed: no space left on device (ENOSPC)\n',
    })
  })
})
