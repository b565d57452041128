/* The bytes of the file HAWSER_FATBIN. The assembler copies them, which takes no time; a compiler
 * would need seconds for an array of them. */
    .section .rodata.hawser_kernel_image, "a"
    .balign 16
    .global hawser_kernel_image
    .hidden hawser_kernel_image
    .global hawser_kernel_image_end
    .hidden hawser_kernel_image_end
hawser_kernel_image:
    .incbin HAWSER_FATBIN
hawser_kernel_image_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
