import { setTimeout as pause } from 'node:timers/promises'
import type { Subject } from '../subjects/subject.ts'

/** Waits until three measurements in a row each differ from the previous one by less than 2 MiB. Waits at most 10 s. */
export async function settledBytes(subject: Subject): Promise<number> {
  let bytes = subject.residentBytes()
  for (let equal = 0, looks = 0; equal < 3 && looks < 40; looks += 1) {
    await pause(250)
    const now = subject.residentBytes()
    equal = Math.abs(now - bytes) < 1_048_576 * 2 ? equal + 1 : 0
    bytes = now
  }
  return bytes
}
