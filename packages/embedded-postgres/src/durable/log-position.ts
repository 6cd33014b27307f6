/**
 * Keeps, outside of the write-ahead log, the position that the log must reach. PostgreSQL takes a damaged log for a
 * shorter one and would start without the writes after the damage (ADR 73).
 */
import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type DatabaseFolder, ownNames } from '../directory/database-folder.ts'
import { DamagedDatabaseError } from '../failure.ts'
import { findLogDamage } from './write-ahead-log.ts'

/** How long a position may be only in the memory of the operating system. It survives a killed process there. */
const SYNC_AFTER_MS = 1_000

export interface LogPosition {
  /** Call after the log has been synced up to `position`. */
  set(position: number): void
  close(): void
}

export function openLogPosition(folder: DatabaseFolder): LogPosition {
  const file = fileOf(folder)
  let descriptor: number | undefined
  let syncing: NodeJS.Timeout | undefined
  const sync = () => {
    syncing = undefined
    // A failure leaves an older position on the disk, which is weaker but true.
    if (descriptor !== undefined) fdatasync(descriptor, () => undefined)
  }
  return {
    set(position) {
      const line = lineOf(position)
      if (descriptor === undefined) descriptor = create(file, line)
      // Every line has the same length and fits into one sector, so the file never holds a part of one.
      else writeSync(descriptor, line, 0)
      syncing ??= setTimeout(sync, SYNC_AFTER_MS).unref()
    },
    close() {
      clearTimeout(syncing)
      if (descriptor === undefined) return
      fdatasyncSync(descriptor)
      closeSync(descriptor)
      descriptor = undefined
    },
  }
}

/**
 * Refuses a database whose log ends before the position that was kept. Changes no file.
 * @param accepted a position up to which the operator accepts lost writes, as PostgreSQL writes it.
 * @returns the position after which writes are lost, if the operator accepts that.
 * @throws DamagedDatabaseError
 */
export function requireWholeLog(folder: DatabaseFolder, accepted?: string): string | undefined {
  const end = readPosition(folder)
  const damage = end === undefined ? undefined : findLogDamage(folder.path, end)
  if (end === undefined || damage === undefined) return undefined
  if (accepted === textOf(end)) return textOf(damage)
  throw new DamagedDatabaseError(
    `The write-ahead log in ${folder.path} is damaged at ${textOf(damage)}, but writes up to ${textOf(end)} were acknowledged`,
    'files',
    textOf(end),
  )
}

function readPosition(folder: DatabaseFolder): number | undefined {
  const file = fileOf(folder)
  let line: string
  try {
    line = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const position = Number.parseInt(line, 16)
  if (line === lineOf(position)) return position
  throw new DamagedDatabaseError(
    `${file} is damaged, so damage to the write-ahead log would go unnoticed. Deleting the file skips this check`,
    'files',
  )
}

function fileOf(folder: DatabaseFolder): string {
  return join(folder.path, ownNames(folder).position)
}

function lineOf(position: number): string {
  const text = hex(position, 16)
  return `${text} ${hex(crc32(text), 8)}\n`
}

/** @example textOf(0x1_0000_00ff) // '1/FF', as in PostgreSQL's messages */
function textOf(position: number): string {
  return `${hex(Math.floor(position / 2 ** 32))}/${hex(position % 2 ** 32)}`
}

function hex(value: number, digits = 0): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}

/** A power cut leaves either no file or a whole one. */
function create(file: string, line: string): number {
  const temporary = `${file}.new`
  const descriptor = openSync(temporary, 'w', 0o600)
  writeSync(descriptor, line, 0)
  fsyncSync(descriptor)
  renameSync(temporary, file)
  // Windows cannot open a folder to sync it.
  if (process.platform === 'win32') return descriptor
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
  return descriptor
}
