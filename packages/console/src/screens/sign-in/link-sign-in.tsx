import type { Session, SignInPreview } from '@stet/contract/vocabulary'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { DetailsOf, Failure } from '../../app/failure.tsx'
import { CookieNotice, SignInForm } from '../../app/frame/dialogs/sign-in-form.tsx'
import { preferences } from '../../app/preferences.ts'
import { roleOf } from '../../app/roles.ts'
import { ConsoleError, CookieRefused, callConsole, signIn } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { Skeleton } from '../../ui/states.tsx'
import css from './sign-in.module.css'

interface LinkSignInProps {
  code: string
  onSignedIn: () => void
}

/** Says who the link signs in and waits for a click, because mail scanners open links too. */
export function LinkSignIn({ code, onSignedIn }: LinkSignInProps) {
  const preview = useQuery({
    queryKey: ['session', 'of', code],
    queryFn: () => callConsole<SignInPreview>('POST', '/console/session', { code, peek: true }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const current = useCurrentSession()
  const use = useMutation({
    mutationFn: () => signIn({ code }),
    onSuccess() {
      dropFragment()
      onSignedIn()
    },
    // The server has accepted the code, so it is used up.
    onError: (refusal) => refusal instanceof CookieRefused && dropFragment(),
  })
  const retry = () => {
    use.reset()
    void preview.refetch()
  }
  const error = preview.error ?? use.error
  if (error instanceof ConsoleError && error.reason === 'sign-in-refused')
    return <UsedUp error={error} onSignedIn={onSignedIn} />
  if (error instanceof CookieRefused) {
    return (
      <>
        <h1 className={css['title']} tabIndex={-1}>
          You are not signed in
        </h1>
        <CookieNotice />
      </>
    )
  }
  if (error) return <Failure error={error} what="The link could not be used" onRetry={retry} />
  if (!preview.data) return <Skeleton />
  const { workspace, author, scopes } = preview.data
  return (
    <>
      <h1 className={css['title']} tabIndex={-1}>
        Sign in to workspace {workspace.name} as {author.name} ({roleOf(scopes).toLowerCase()})?
      </h1>
      {current && (
        <p>
          You are signed in as {current.apiKey.author.name} in workspace {current.workspace.name}. This ends that
          session in this browser.
        </p>
      )}
      <div>
        <Button look="primary" autoFocus busy={use.isPending} onClick={() => use.mutate()}>
          Sign in as {author.name}
        </Button>
      </div>
    </>
  )
}

/** The session that the link would replace. It is asked for only if this browser had one. */
function useCurrentSession(): Session | undefined {
  const { data } = useQuery({
    queryKey: ['session', 'replaced'],
    queryFn: () => callConsole<Session>('GET', '/console/session'),
    enabled: preferences().wasSignedIn,
    gcTime: 0,
  })
  return data
}

function UsedUp({ error, onSignedIn }: { error: ConsoleError; onSignedIn: () => void }) {
  useEffect(dropFragment, [])
  return (
    <>
      <h1 className={css['title']} tabIndex={-1}>
        This link no longer works
      </h1>
      <p>It was used before or has expired. This command prints a new one:</p>
      <Code text="stet console" label="command" />
      <DetailsOf error={error} />
      <section className={css['other']}>
        <h2>Or sign in with an API key</h2>
        <SignInForm onSignedIn={onSignedIn} />
      </section>
    </>
  )
}

/** Takes the used code out of the address and the browser's history. */
function dropFragment(): void {
  history.replaceState(history.state, '', location.pathname + location.search)
}
