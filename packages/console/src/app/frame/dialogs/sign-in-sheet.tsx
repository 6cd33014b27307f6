import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Dialog } from '../../../ui/dialog.tsx'
import { listen } from '../../../ui/watched.ts'
import { queryClient, resumeSession, sessionQuery } from '../../session.ts'
import { SignInForm } from './sign-in-form.tsx'

/**
 * Covers the screen when the session has ended. The screen stays as it is below. A user who is typing keeps
 * the focus there, because text typed into the sheet would be lost. The sheet is below the text then.
 */
export function SignInSheet() {
  const [wasTyping] = useState(isTyping)
  const form = useRef<HTMLDivElement>(null)
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  useEffect(() => {
    // The user may have signed in with another tab, for example with a link.
    return listen(window, 'focus', () => void resumeSession().catch(() => undefined))
  }, [])
  return (
    <Dialog
      title="Your session has ended"
      text={
        <span role={wasTyping ? 'alert' : undefined}>
          Sign in again to continue{before && ` as ${before.apiKey.author.name}`}. Your text is still here. You can also
          run <code>stet console</code>, open its link in another tab, and come back.
          {wasTyping && ' You can finish typing. Press Escape to sign in.'}
        </span>
      }
      keepsFocus={wasTyping}
      onClose={() => form.current?.querySelector('input')?.focus()}
    >
      {wasTyping && <CursorInView />}
      <div ref={form}>
        <SignInForm takesFocus={!wasTyping} onSignedIn={() => undefined} />
      </div>
    </Dialog>
  )
}

/** The docked sheet takes height from the screen, and the cursor may be in the part that the screen has lost. */
function CursorInView() {
  useLayoutEffect(() => {
    placeOfCursor()?.scrollIntoView({ block: 'nearest' })
  }, [])
  return null
}

/** The line of an editor, or the field. */
function placeOfCursor(): Element | null | undefined {
  const { activeElement } = document
  if (!(activeElement instanceof HTMLElement) || !activeElement.isContentEditable) return activeElement
  return getSelection()?.focusNode?.parentElement
}

function isTyping(): boolean {
  const { activeElement } = document
  // A sheet below an open dialog could not be reached.
  if (!(activeElement instanceof HTMLElement) || activeElement.closest('dialog')) return false
  return activeElement.isContentEditable || activeElement.matches('textarea, input')
}
