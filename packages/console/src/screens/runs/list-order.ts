/** The list that the reader came from: the inspector continues in its order, and the list returns to the same run. */
import { Watched } from '../../ui/watched.ts'

interface ListOrder {
  /** The uuids of the runs, as the list shows them. */
  uuids: readonly string[]
  /** The run that was opened last. Null after the return to it. */
  opened: string | null
}

export const listOrder = new Watched<ListOrder>({ uuids: [], opened: null })

/** The run was opened from the list, or from its neighbor. */
export function noticeOpened(uuid: string): void {
  const now = listOrder.get()
  if (now.opened !== uuid) listOrder.set({ ...now, opened: uuid })
}
