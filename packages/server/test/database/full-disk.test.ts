/** The embedded database on file systems that are full, or become full. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyDatabase } from '../../src/adapters/database/embedded/directory/first-start.ts'
import { openPglite } from '../../src/adapters/database/embedded/open-pglite.ts'
import { type ProgramEnd, programEnd, startProgram } from '../support/child-program.ts'
import { isSkippedWithoutTmpfs, type PrivateMount, tmpfsOf } from '../support/private-mount.ts'
import { embeddedTemplate, packageRoot } from '../support/test-database.ts'

const skips = isSkippedWithoutTmpfs('the embedded database on a full disk')

describe.skipIf(skips)('the engine on a full disk', () => {
  let mount: PrivateMount
  let directory: string
  let child: ChildProcess
  let end: Promise<ProgramEnd>

  beforeEach(async () => {
    mount = tmpfsOf(100)
    directory = join(mount.path, 'db')
    await copyDatabase(await embeddedTemplate(), directory)
    child = startProgram('full-disk-child.ts', join(packageRoot, 'dist', 'database-thread.mjs'), directory)
    end = programEnd(child)
    await once(child, 'message')
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    await end
    mount.close()
  })

  it('ends the process with one line when a checkpoint panics, and the next start has every acknowledged row', async () => {
    child.send(`INSERT INTO workspace (name) VALUES ('acknowledged')`)
    expect(await once(child, 'message')).toContain('done')
    mount.fill()
    const answered = once(child, 'message').then(([answer]) => `it went on: ${answer}`)
    child.send('CHECKPOINT')
    expect(await Promise.race([end, answered])).toEqual({
      code: null,
      signal: 'SIGKILL',
      stdout: '',
      stderr: expect.stringMatching(
        /^stet: the embedded database stops because its engine failed: could not write [^\n]* No space left on device\n$/,
      ),
    })
    mount.empty()
    const pglite = await openPglite(directory)
    const { rows } = await pglite.query('SELECT name FROM workspace')
    expect(rows).toEqual([{ name: 'acknowledged' }])
    await pglite.close()
  })
})
