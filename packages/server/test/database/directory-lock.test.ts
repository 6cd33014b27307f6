import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lockDirectory } from '../../src/adapters/database/embedded/directory-lock.ts'
import { startProgram } from '../support/child-program.ts'
import type { LockAnswer, LockOrder } from '../support/lock-child.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function tell(child: ChildProcess, order: LockOrder): Promise<LockAnswer> {
  const answer = once(child, 'message')
  child.send(order)
  return (await answer)[0] as LockAnswer
}

async function startLocker(): Promise<ChildProcess> {
  const child = startProgram('lock-child.ts')
  await once(child, 'message')
  return child
}

async function killHard(child: ChildProcess): Promise<void> {
  const gone = once(child, 'close')
  child.kill('SIGKILL')
  await gone
}

describe('directory lock', () => {
  let folder: string
  let directory: string
  let children: ChildProcess[]

  beforeAll(async () => {
    children = await Promise.all([startLocker(), startLocker()])
  })
  afterAll(() => Promise.all(children.map(killHard)))
  beforeEach(async () => {
    folder = await temporaryFolder()
    directory = join(folder, 'db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('of two processes that start together exactly one wins, fifty times', async () => {
    for (let round = 0; round < 50; round++) {
      const answers = await Promise.all(children.map((child) => tell(child, { try: directory })))
      expect(
        answers.filter((answer) => 'won' in answer),
        JSON.stringify(answers),
      ).toHaveLength(1)
      await Promise.all(children.map((child) => tell(child, { release: true })))
    }
  })

  it('names the process that holds it', async () => {
    const holder = children[0] as ChildProcess
    await tell(holder, { try: directory })
    await expect(lockDirectory(directory)).rejects.toThrow(
      new RegExp(`in use by process ${holder.pid} on .*; only one process may open it$`),
    )
    await tell(holder, { release: true })
  })

  it('is free again at once when its holder is killed, for exactly one of two, ten times', async () => {
    for (let round = 0; round < 10; round++) {
      const lock = await lockDirectory(directory)
      const stale = await readFile(`${directory}.lock`, 'utf8')
      await lock.release()
      // What a killed process leaves: its file, and no socket.
      await writeFile(`${directory}.lock`, stale)
      const answers = await Promise.all(children.map((child) => tell(child, { try: directory })))
      expect(
        answers.filter((answer) => 'won' in answer),
        JSON.stringify(answers),
      ).toHaveLength(1)
      await Promise.all(children.map((child) => tell(child, { release: true })))
    }
  })

  it('survives the kill of its holder', async () => {
    const holder = await startLocker()
    expect(await tell(holder, { try: directory })).toEqual({ won: true })
    await expect(lockDirectory(directory)).rejects.toThrow('in use')
    await killHard(holder)
    const lock = await lockDirectory(directory)
    await lock.release()
  })

  it('never takes over from a holder in another host; the operator who deletes the file says that it is gone', async () => {
    const elsewhere = { pid: 1, startTime: '1', bootId: 'x', host: 'elsewhere', pidNamespace: 'x', netNamespace: 'x' }
    await writeFile(`${directory}.lock`, JSON.stringify(elsewhere))
    await expect(lockDirectory(directory)).rejects.toThrow(
      `in use by process 1 on elsewhere; only one process may open it. If elsewhere is gone for good, delete ${directory}.lock`,
    )
    await rm(`${directory}.lock`)
    const lock = await lockDirectory(directory)
    await lock.release()
  })

  it('takes over after a boot of the same host, and from a reused pid', async () => {
    const lock = await lockDirectory(directory)
    const self = JSON.parse(await readFile(`${directory}.lock`, 'utf8'))
    await lock.release()
    for (const stale of [
      { ...self, bootId: 'before' },
      { ...self, netNamespace: 'other', startTime: '1' },
    ]) {
      await writeFile(`${directory}.lock`, JSON.stringify(stale))
      await (await lockDirectory(directory)).release()
    }
  })

  it('refuses a living holder in another network namespace, where its socket is not seen', async () => {
    const lock = await lockDirectory(directory)
    const self = JSON.parse(await readFile(`${directory}.lock`, 'utf8'))
    await lock.release()
    await writeFile(`${directory}.lock`, JSON.stringify({ ...self, netNamespace: 'other' }))
    await expect(lockDirectory(directory)).rejects.toThrow(`in use by process ${process.pid}`)
  })
})
