/** Limits how many bytes of large answers active runs work on at once. A run holds about six copies of its answer. */
import type { HeldAnswer, LargeAnswers } from '../../features/providers/model-driver.ts'

/**
 * Waiting answers are taken in order of arrival.
 * @param mostBytes for all answers. A workspace gets half of it. One answer of any size fits if no other is held.
 * @param patienceMs after which an answer is taken without room, because another run may hold its answer during a tool
 * call.
 */
export function createLargeAnswers(mostBytes: number, patienceMs = 60_000): LargeAnswers {
  const held = new Map<string, HeldAnswer>()
  const waiting = new Map<HeldAnswer, () => void>()
  const hasRoom = ({ workspaceId, bytes }: HeldAnswer): boolean => {
    let [all, own] = [0, 0]
    for (const other of held.values()) {
      all += other.bytes
      if (other.workspaceId === workspaceId) own += other.bytes
    }
    return (all === 0 || all + bytes <= mostBytes) && (own === 0 || own + bytes <= mostBytes / 2)
  }
  const take = (answer: HeldAnswer) => void held.set(answer.conversationUuid, answer)
  const turn = (answer: HeldAnswer, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const begin = () => {
        clearTimeout(patience)
        signal.removeEventListener('abort', begin)
        waiting.delete(answer)
        // Taken here, so that the next waiting answer sees it.
        if (!signal.aborted) take(answer)
        resolve()
      }
      const patience = setTimeout(begin, patienceMs).unref()
      waiting.set(answer, begin)
      signal.addEventListener('abort', begin, { once: true })
    })
  return {
    async hold(answer, signal) {
      // A run that holds an answer never waits, so two runs cannot wait for each other.
      if (held.has(answer.conversationUuid) || signal.aborted) return
      if (hasRoom(answer)) take(answer)
      else await turn(answer, signal)
    },
    release(conversationUuid) {
      if (!held.delete(conversationUuid)) return
      for (const [next, begin] of waiting) if (hasRoom(next)) begin()
    },
  }
}
