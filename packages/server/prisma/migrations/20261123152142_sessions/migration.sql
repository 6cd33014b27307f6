-- CreateTable
CREATE TABLE "installation" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "uuid" UUID NOT NULL,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "api_key_id" INTEGER NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_link" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "api_key_id" INTEGER NOT NULL,
    "code_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_link_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "session_token_hash_key" ON "session"("token_hash");

-- CreateIndex
CREATE INDEX "session_workspace_id_created_at_idx" ON "session"("workspace_id", "created_at");

-- CreateIndex
CREATE INDEX "session_api_key_id_idx" ON "session"("api_key_id");

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_link_code_hash_key" ON "sign_in_link"("code_hash");

-- CreateIndex
CREATE INDEX "sign_in_link_workspace_id_expires_at_idx" ON "sign_in_link"("workspace_id", "expires_at");

-- CreateIndex
CREATE INDEX "sign_in_link_api_key_id_idx" ON "sign_in_link"("api_key_id");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;
