import { useMutation } from '@tanstack/react-query'
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
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      if (!apiKey.trim()) throw new Error('Enter an API key')
      await signIn({ apiKey: apiKey.trim() })
    },
    onSuccess: onSignedIn,
    // The server has accepted the key, so it need not stay in the page.
    onError: (refusal) => refusal instanceof CookieRefused && setApiKey(''),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) mutate()
  }
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
      <Button type="submit" look="primary" busy={isPending}>
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
