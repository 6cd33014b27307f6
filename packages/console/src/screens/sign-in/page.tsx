import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { SignInForm } from '../../app/frame/dialogs/sign-in-form.tsx'
import { UnencryptedLine } from '../../app/frame/lines/lines.tsx'
import { base } from '../../app/session.ts'
import { Code } from '../../ui/copy.tsx'
import { Wordmark } from '../../ui/mark.tsx'
import { LinkSignIn } from './link-sign-in.tsx'
import { ownAddress } from './own-address.ts'
import css from './sign-in.module.css'

/** Signs in with the code of a link (`/sign-in#code`) or with an API key. */
export function SignInPage() {
  const { to } = useSearch({ strict: false })
  const navigate = useNavigate()
  // The fragment of the address reaches no server. It leaves the address once the code is used; the page keeps the
  // code.
  const { hash } = useLocation()
  const [code, setCode] = useState(hash)
  if (hash && hash !== code) setCode(hash)
  const enter = () => void navigate({ href: `${base.pathname}${ownAddress(to, base).slice(1)}`, replace: true })
  return (
    <>
      <title>Sign in · stet</title>
      <UnencryptedLine />
      <main className={css['page']}>
        <div className={css['column']}>
          <Wordmark />
          {code ? <LinkSignIn key={code} code={code} onSignedIn={enter} /> : <KeySignIn onSignedIn={enter} />}
        </div>
      </main>
    </>
  )
}

function KeySignIn({ onSignedIn }: { onSignedIn: () => void }) {
  return (
    <>
      <h1 className={css['title']} tabIndex={-1}>
        Sign in
      </h1>
      <SignInForm onSignedIn={onSignedIn} />
      <section className={css['other']}>
        <h2>No API key?</h2>
        <p>Ask an admin for a sign-in link. If the stet command line has a key, this command prints one:</p>
        <Code text="stet console" label="command" />
      </section>
    </>
  )
}
