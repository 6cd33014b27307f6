import { Toasts } from '../../../ui/toasts.tsx'
import { useSignedOut } from '../../session.ts'
import { DeleteDraft, NewDraft, NewProject, RenameDraft } from './edits.tsx'
import { KeyList } from './key-list.tsx'
import { Palette } from './palette.tsx'
import { SignInSheet } from './sign-in-sheet.tsx'
import { SignOut } from './sign-out.tsx'

const overlays = {
  palette: Palette,
  'find-version': (props: { onClose: () => void }) => <Palette only="versions" {...props} />,
  keys: KeyList,
  'new-project': NewProject,
  'new-draft': NewDraft,
  'rename-draft': RenameDraft,
  'delete-draft': DeleteDraft,
  'sign-out': SignOut,
}

export type Overlay = keyof typeof overlays

/** The open overlay. All overlays are in this part, so that no dialog waits for another one. */
export function Opened({ shown, onClose }: { shown: Overlay | null; onClose: () => void }) {
  const isSignedOut = useSignedOut()
  const Shown = shown && overlays[shown]
  return (
    <>
      {Shown && <Shown key={shown} onClose={onClose} />}
      {isSignedOut && <SignInSheet />}
      <Toasts />
    </>
  )
}
