import { useEffect } from 'react'
import { Dialog } from '../../../ui/dialog.tsx'
import { queryClient, resumeSession, sessionQuery } from '../../session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Covers the screen when the session has ended. The screen stays as it is below. */
export default function SignInSheet() {
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  useEffect(() => {
    // The user may have signed in with another tab, for example with a link.
    const resume = () => void resumeSession().catch(() => undefined)
    addEventListener('focus', resume)
    return () => removeEventListener('focus', resume)
  }, [])
  return (
    <Dialog
      title="Your session has ended"
      text={
        <>
          Sign in again to continue{before && ` as ${before.apiKey.author.name}`}. Your text is still here. You can also
          run <code>stet console</code>, open its link in another tab, and come back.
        </>
      }
      open
      onClose={() => undefined}
    >
      <SignInForm onSignedIn={() => undefined} />
    </Dialog>
  )
}
