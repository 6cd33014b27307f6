import { Key } from '../../../ui/mark.tsx'
import { keyText } from '../../shortcuts.ts'

/** The keys of a shortcut. Keys that are pressed after each other are shown as separate keys. */
export function Keys({ keys }: { keys: string }) {
  return keys.split(' ').map((key) => <Key key={key}>{keyText(key)}</Key>)
}
