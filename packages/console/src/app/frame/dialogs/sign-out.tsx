import { useState } from 'react'
import { Confirm } from '../../../ui/dialog.tsx'
import { counted } from '../../../ui/time.tsx'
import { signOut } from '../../session.ts'
import { countUnsaved } from '../../unsaved.ts'

/** Asks before texts are discarded that could not be saved. */
export function SignOut({ onClose }: { onClose: () => void }) {
  const [count] = useState(countUnsaved)
  return (
    <Confirm
      title="Sign out?"
      text={`${counted(count, 'prompt')} ${count === 1 ? 'is' : 'are'} not saved. Signing out discards ${count === 1 ? 'it' : 'them'}.`}
      action="Sign out"
      danger
      onConfirm={signOut}
      onClose={onClose}
    />
  )
}
