import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lockDirectory } from '../src/directory/directory-lock.ts'
import { loader, startProgram } from './support/child-program.ts'
import { folderOf } from './support/database.ts'
import { container, isSkippedWithoutContainers, mounted } from './support/isolation.ts'
import type { LockAnswer, LockOrder } from './support/lock-child.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const lockProgram = fileURLToPath(new URL('./support/lock-child.ts', import.meta.url))

async function tell(child: ChildProcess, order: LockOrder): Promise<LockAnswer> {
  const answer = once(child, 'message')
  child.send(order)
  return (await answer)[0] as LockAnswer
}

async function startLocker(): Promise<ChildProcess> {
  const child = startProgram(new URL('support/lock-child.ts', import.meta.url))
  await once(child, 'message')
  return child
}

async function killHard(child: ChildProcess): Promise<void> {
  const gone = once(child, 'close')
  child.kill('SIGKILL')
  await gone
}

const skips = isSkippedWithoutContainers('the lock between containers')

/** Leaves the lock of a killed process, described as `holder`. */
async function leaveLock(directory: string, holder: { host: string; bootId: string }): Promise<void> {
  const killed = await startLocker()
  expect(await tell(killed, { try: directory })).toEqual({ won: true })
  await killHard(killed)
  const lock = join(directory, 'test-lock')
  const [name] = (await readdir(lock)).filter((entry) => entry.endsWith('.json'))
  await writeFile(join(lock, name ?? ''), JSON.stringify({ pid: 1, ...holder }))
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

  it('exactly one of two processes that start together gets the lock, fifty times', async () => {
    for (let round = 0; round < 50; round++) {
      const answers = await Promise.all(children.map((child) => tell(child, { try: directory })))
      expect(
        answers.filter((answer) => 'won' in answer),
        JSON.stringify(answers),
      ).toHaveLength(1)
      await Promise.all(children.map((child) => tell(child, { release: true })))
    }
  })

  it('exactly one of two waiting processes gets the lock when its owner is killed, twenty times', async () => {
    const holder = await startLocker()
    await tell(holder, { try: directory })
    await killHard(holder)
    // A killed process leaves its folder and a socket that refuses connections. Each round starts from a copy of
    // them.
    const remains = join(folder, 'remains')
    await rename(join(directory, 'test-lock'), remains)
    for (let round = 0; round < 20; round++) {
      execFileSync('cp', ['-a', remains, join(directory, 'test-lock')])
      const answers = await Promise.all(children.map((child) => tell(child, { try: directory })))
      expect(
        answers.filter((answer) => 'won' in answer),
        JSON.stringify(answers),
      ).toHaveLength(1)
      await Promise.all(children.map((child) => tell(child, { release: true })))
      expect(await readdir(directory)).toEqual([])
    }
  })

  it('names the process that owns it, and is available again after that process was killed', async () => {
    const holder = await startLocker()
    expect(await tell(holder, { try: directory })).toEqual({ won: true })
    await expect(lockDirectory(folderOf(directory))).rejects.toThrow(
      new RegExp(`in use by process ${holder.pid} on .*; only one process may open it$`),
    )
    await killHard(holder)
    const lock = await lockDirectory(folderOf(directory))
    await lock.release()
  })

  it.skipIf(skips)('is never taken over from an owner on another machine until an operator deletes it', async () => {
    // Like NFS, ramfs is not among the file systems of which only one kernel has a mount.
    const shared = mounted('ramfs')
    const lock = join(shared.path, 'test-lock')
    try {
      await leaveLock(shared.path, { host: 'elsewhere', bootId: 'x' })
      await expect(lockDirectory(folderOf(shared.path))).rejects.toThrow(
        `in use by process 1 on elsewhere; only one process may open it. If elsewhere is gone for good, delete ${lock}`,
      )
      await rm(lock, { recursive: true })
      // The same machine after a reboot.
      await leaveLock(shared.path, { host: hostname(), bootId: 'x' })
      await (await lockDirectory(folderOf(shared.path))).release()
    } finally {
      shared.unmount()
    }
  })

  it.skipIf(skips)('is taken over after a reboot by a container of another name, if the disk is local', async () => {
    const disk = mounted('tmpfs')
    try {
      await leaveLock(disk.path, { host: 'elsewhere', bootId: 'x' })
      await (await lockDirectory(folderOf(disk.path))).release()
    } finally {
      disk.unmount()
    }
  })

  it('is taken over from a process that was killed before it had the lock or while releasing it', async () => {
    await mkdir(join(directory, 'test-lock-0123'), { recursive: true })
    await writeFile(join(directory, 'test-lock-0123', '0123.json'), '{}')
    await mkdir(join(directory, 'test-lock'))
    await writeFile(join(directory, 'test-lock', '4567.json'), '{')
    const lock = await lockDirectory(folderOf(directory))
    expect(await readdir(directory)).toEqual(['test-lock'])
    await lock.release()
    expect(await readdir(directory)).toEqual([])
  })

  it('works in a folder with a long path', async () => {
    const long = join(folder, 'l'.repeat(150), 'db')
    const lock = await lockDirectory(folderOf(long))
    await expect(lockDirectory(folderOf(long))).rejects.toThrow(`in use by process ${process.pid}`)
    await lock.release()
  })
})

describe.skipIf(skips)('directory lock between containers', () => {
  let dataDir: string

  beforeEach(async () => {
    dataDir = await temporaryFolder()
  })
  afterEach(() => rm(dataDir, { recursive: true }))

  const startContainer = async (script: string) => {
    const command = `${script} exec ${[process.execPath, ...loader, lockProgram].join(' ')}`
    const child = spawn('unshare', [...container, 'sh', '-c', command], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    await once(child, 'message')
    return child
  }

  it('refuses the second of two containers with the same host name, even if they share only the database directory', async () => {
    const directory = join(dataDir, 'db')
    const elsewhere = join(dataDir, 'elsewhere', 'db')
    await mkdir(elsewhere, { recursive: true })
    await mkdir(directory)
    const [first, second, third] = [
      await startContainer('hostname there;'),
      await startContainer('hostname there;'),
      await startContainer(`hostname there; mount --bind ${directory} ${elsewhere};`),
    ]
    expect(await tell(first, { try: directory })).toEqual({ won: true })
    const refused = { refused: expect.stringContaining('is in use by process') }
    expect(await tell(second, { try: directory })).toEqual(refused)
    expect(await tell(third, { try: elsewhere })).toEqual(refused)
    await expect(lockDirectory(folderOf(directory))).rejects.toThrow('on there')
    await killHard(first)
    expect(await tell(third, { try: elsewhere })).toEqual({ won: true })
    expect(await tell(second, { try: directory })).toEqual(refused)
    await Promise.all([second, third].map(killHard))
  })

  it('gives the lock of a killed container to its successor of another name at once', async () => {
    const directory = join(dataDir, 'db')
    const killed = await startContainer('hostname stet-7c9d;')
    const successor = await startContainer('hostname stet-x2lq;')
    expect(await tell(killed, { try: directory })).toEqual({ won: true })
    expect(await tell(successor, { try: directory })).toEqual({ refused: expect.stringContaining('on stet-7c9d') })
    await killHard(killed)
    expect(await tell(successor, { try: directory })).toEqual({ won: true })
    await killHard(successor)
  })
})
