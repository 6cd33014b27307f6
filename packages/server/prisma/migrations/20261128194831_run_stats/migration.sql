-- AlterTable
ALTER TABLE "run" ADD COLUMN     "document_uuid" UUID,
ADD COLUMN     "project_id" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "run_figure" (
    "run_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID NOT NULL,
    "version_uuid" UUID NOT NULL,
    "model" TEXT,
    "via" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "first_token_ms" INTEGER,
    "input_tokens" INTEGER NOT NULL,
    "output_tokens" INTEGER NOT NULL,
    "cached_tokens" INTEGER NOT NULL,
    "cost_nano" BIGINT,
    "usage_estimated" BOOLEAN NOT NULL,

    CONSTRAINT "run_figure_pkey" PRIMARY KEY ("run_uuid")
);

-- CreateTable
CREATE TABLE "run_day" (
    "project_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "scope" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "cells" JSON NOT NULL,

    CONSTRAINT "run_day_pkey" PRIMARY KEY ("project_id","day","scope","by")
);

-- CreateIndex
CREATE INDEX "run_figure_project_id_at_idx" ON "run_figure"("project_id", "at");

-- CreateIndex
CREATE INDEX "run_figure_document_uuid_at_idx" ON "run_figure"("document_uuid", "at");
