/* SPDX-License-Identifier: Apache-2.0
 * The first instructions: stack, cleared .bss, main. Loaded into RAM whole, so .data needs no copy.
 */
    .section .text.start
    .globl _start
_start:
    la sp, stack_top
    la t0, bss_begin
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sb zero, 0(t0)
    addi t0, t0, 1
    j 1b
2:  call main
3:  j 3b
