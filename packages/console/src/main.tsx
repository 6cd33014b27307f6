import './ui/styles/base.css'
import './ui/styles/fonts.css'
import './ui/styles/tokens.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createPageRouter } from './app/router.tsx'
import { base, NonceContext, queryClient } from './app/session.ts'

// This file and app/session.ts alone touch the document.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="stet-nonce"]')?.content ?? ''
const root = document.getElementById('root')
if (!root) throw new Error('The page has no element #root')
const router = createPageRouter(base.pathname)

createRoot(root).render(
  <StrictMode>
    <NonceContext value={nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </NonceContext>
  </StrictMode>,
)
