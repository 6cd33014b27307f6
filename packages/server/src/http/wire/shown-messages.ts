import { declaredMessage } from '../../features/runs/encoding/message-list.ts'
import type { Message } from '../../features/templates/message.ts'

/** Messages as a caller gets them; strict models of published clients refuse reasoning and the role developer. */
export function shownMessages(messages: readonly Message[], isDeclared: boolean): Message[] {
  return isDeclared ? messages.map(declaredMessage) : [...messages]
}
