import { type FormEvent, useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/states.tsx'
import { DetailsOf, messageOf } from '../../failure.tsx'
import { CookieRefused, signIn } from '../../session.ts'
import css from './dialogs.module.css'

interface SignInFormProps {
  onSignedIn: () => void
  /** False if the user is typing elsewhere. */
  takesFocus?: boolean
}

/** Signs in with an API key. */
export function SignInForm({ onSignedIn, takesFocus = true }: SignInFormProps) {
  const [apiKey, setApiKey] = useState('')
  const [state, setState] = useState<'idle' | 'busy' | { error: unknown }>('idle')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (state === 'busy') return
    if (!apiKey.trim()) return setState({ error: new Error('Enter an API key') })
    setState('busy')
    try {
      await signIn({ apiKey: apiKey.trim() })
      onSignedIn()
    } catch (error) {
      // The server has accepted the key, so it need not stay in the page.
      if (error instanceof CookieRefused) setApiKey('')
      setState({ error })
    }
  }
  const error = typeof state === 'object' ? state.error : null
  return (
    <form className={css['form']} onSubmit={submit} noValidate>
      {error instanceof CookieRefused && <CookieNotice />}
      <TextField
        label="API key"
        type="password"
        name="api-key"
        mono
        autoComplete="off"
        autoFocus={takesFocus}
        placeholder="stet_…"
        value={apiKey}
        problem={error !== null && !(error instanceof CookieRefused) && messageOf(error)}
        onChange={(event) => setApiKey(event.target.value)}
      />
      <DetailsOf error={error} />
      <Button type="submit" look="primary" busy={state === 'busy'}>
        Sign in
      </Button>
    </form>
  )
}

/** The server accepted the credential, and the browser sent no cookie afterwards. */
export function CookieNotice() {
  return (
    <Notice tone="red" urgent>
      <strong>Your browser did not keep the session cookie.</strong> Allow cookies for {location.host}. If a proxy
      serves stet over https, it must send <code>X-Forwarded-Proto</code>, and stet must trust it.
    </Notice>
  )
}
