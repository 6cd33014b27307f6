import { useWatched, Watched } from '../../ui/watched.ts'
import { useSignedOut } from '../session.ts'
import { DeleteDraft, NewDraft, NewProject, RenameDraft, SignOut } from './dialogs/edits.tsx'
import { KeyList } from './dialogs/key-list.tsx'
import { Palette } from './dialogs/palette.tsx'
import { SignInSheet } from './dialogs/sign-in-sheet.tsx'

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

const shown = new Watched<keyof typeof overlays | null>(null)
const close = () => shown.set(null)

export const openOverlay = shown.set

/** The dialogs and the sign-in sheet: everything that covers the screen. */
export function Overlays() {
  const isSignedOut = useSignedOut()
  const name = useWatched(shown)
  const Shown = name && overlays[name]
  return (
    <>
      {Shown && <Shown key={name} onClose={close} />}
      {isSignedOut && <SignInSheet />}
    </>
  )
}
